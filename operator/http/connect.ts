// Opens connections step by step: TCP with a checked lookup, then TLS over an open socket. Never opens a unix socket.
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { buildConnector, errors } from 'undici'

export interface DialAddress {
  readonly host: string
  readonly port: number
}

export interface DialOptions {
  /** Resolves names. The connection goes to the addresses that it returns, so a name cannot change in between. */
  readonly lookup: LookupFunction
  readonly msMax: number
}

type Connector = buildConnector.connector
type Target = Parameters<Connector>[0]

/** Only names are resolved: the caller checks literal addresses. @throws {Error} with a message for users. */
export function dial(
  { host, port }: DialAddress,
  { lookup, msMax }: DialOptions,
  signal: AbortSignal,
): Promise<Socket> {
  // The target has the port as well, but the type of the options requires one.
  const connector = buildConnector({ port, lookup, timeout: msMax })
  return opened(connector, { protocol: 'http:', hostname: host, port: String(port) }, signal)
}

export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized' | 'minVersion' | 'ecdhCurve' | 'checkServerIdentity'
>

/** TLS with ALPN http/1.1. Destroys the socket on failure. @throws {Error} with a message for users. */
export async function secured(socket: Socket, host: string, options: TlsOptions, signal: AbortSignal): Promise<Socket> {
  const { servername = isIP(host) === 0 ? host : undefined, ...others } = options
  // Undici caches sessions by server name, without regard to how the certificate is verified: no session is reused.
  const connector = buildConnector({ ...others, allowH2: false, maxCachedSessions: 0, timeout: 0 })
  const target = { protocol: 'https:', hostname: host, port: '', httpSocket: socket }
  try {
    return await opened(connector, { ...target, ...(servername !== undefined && { servername }) }, signal)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function opened(connector: Connector, target: Target, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const late = (): Error => new Error('connection timed out')
  const aborted = (): void => reject(late())
  if (signal.aborted) return Promise.reject(late())
  signal.addEventListener('abort', aborted, { once: true })
  connector(target, (error, socket) => {
    signal.removeEventListener('abort', aborted)
    if (error !== null) return reject(error instanceof errors.ConnectTimeoutError ? late() : error)
    // The caller has stopped waiting.
    if (signal.aborted) socket.destroy()
    return resolve(socket)
  })
  return promise
}
