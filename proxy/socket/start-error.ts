// The error of a failed start or a failed port: the address, the cause, and the process that uses the port. It needs no
// stack.
import { createServer } from 'node:net'
import { portHolder } from './port-holder.ts'

/** Settings for other addresses of the proxy's own servers; listeners have theirs in the configuration. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ['admin server', 'ADMIN_ADDR'],
  ['metrics server', 'STATS_ADDR'],
  ['readiness server', 'READINESS_ADDR'],
])

export class StartError extends Error {
  /** The server that failed to listen: `admin server`, `listener`. */
  readonly what: string
  readonly host: string
  readonly port: number
  /** `EADDRINUSE`, `EACCES`, … */
  readonly code: string
  readonly holder: string | undefined

  constructor(init: { what: string; host: string; port: number; code: string; holder: string | undefined }) {
    super(sentence(init))
    this.name = 'StartError'
    this.what = init.what
    this.host = init.host
    this.port = init.port
    this.code = init.code
    this.holder = init.holder
  }
}

function sentence(init: {
  what: string
  host: string
  port: number
  code: string
  holder: string | undefined
}): string {
  const where = `${init.what} cannot listen on ${init.host} port ${init.port}`
  if (init.code === 'EADDRINUSE') {
    const setting = SETTINGS.get(init.what)
    const how = setting === undefined ? '' : ` with ${setting}`
    return `${where}: the port is in use by ${init.holder ?? 'another process'}; stop it or choose another port${how}`
  }
  if (init.code === 'EACCES') {
    return `${where}: not permitted; ports below 1024 require the capability NET_BIND_SERVICE or net.ipv4.ip_unprivileged_port_start=0`
  }
  if (init.code === 'ENOTFOUND') return `${where}: the host name does not resolve`
  if (init.code === 'EADDRNOTAVAIL') return `${where}: the address does not belong to this machine`
  return `${where}: ${init.code}`
}

/** Converts any failure of a listen call into a StartError. */
export async function startError(
  place: { what: string; host: string; port: number },
  cause: unknown,
): Promise<StartError> {
  const code = codeOf(cause)
  const holder = code === 'EADDRINUSE' ? await portHolder(place.port) : undefined
  return new StartError({ ...place, code, holder })
}

/**
 * Opens the port without sharing and closes it again. Workers share ports, and the system allows other processes of the
 * same user to share them too: without this check, two proxies would silently split the traffic.
 * @throws {StartError}
 */
export async function probePort(place: { what: string; host: string; port: number }): Promise<void> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: place.host, port: place.port, exclusive: true }, resolve)
    })
  } catch (error) {
    throw await startError(place, error)
  }
  await new Promise((resolve) => {
    server.close(resolve)
  })
}

function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}
