// The one error a failed start or a failed port gives: which address, why, and who holds it. No stack is worth reading.
import { createServer } from 'node:net'
import { portHolder } from './port-holder.ts'

/** Settings that give the proxy's own servers another address; listeners have theirs in the configuration. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ['admin server', 'ADMIN_ADDR'],
  ['metrics server', 'STATS_ADDR'],
  ['readiness server', 'READINESS_ADDR'],
])

export class StartError extends Error {
  /** What was to listen: `admin server`, `listener`. */
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
    return `${where}: not permitted; ports below 1024 need a privilege or net.ipv4.ip_unprivileged_port_start=0`
  }
  if (init.code === 'ENOTFOUND') return `${where}: there is no address of this name`
  if (init.code === 'EADDRNOTAVAIL') return `${where}: this machine does not have the address`
  return `${where}: ${init.code}`
}

/** Any failure of a listen call as a StartError. */
export async function startError(
  place: { what: string; host: string; port: number },
  cause: unknown,
): Promise<StartError> {
  const code = codeOf(cause)
  const holder = code === 'EADDRINUSE' ? await portHolder(place.port) : undefined
  return new StartError({ ...place, code, holder })
}

/**
 * Opens the port alone (without sharing) and closes it again. Workers share ports, and the system lets any other
 * process of the same user share them too: without this, two proxies would silently split the traffic.
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
