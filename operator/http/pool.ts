// A pool of kept connections to one server, the API server. HTTP/1.1: each watch has its own connection, so a slow
// watch does not block other requests.
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { type Dispatcher, Pool } from 'undici'

/** `rejectUnauthorized` is false only when the administrator has chosen not to verify the server. */
export type ServerTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>

/** A parameter of `ask`. */
export type Connections = Dispatcher

export interface PoolOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** Unset: plain HTTP. */
  readonly tls?: ServerTls | undefined
  readonly connectionsMax: number
  readonly connectMsMax: number
}

/** API servers close idle connections after 90 s. Ours are closed earlier, so that no request meets a closed one. */
const IDLE_MS_MAX = 60_000
/** Idle time before the first TCP keep-alive probe. */
const PROBE_AFTER_MS = 15_000

export function connectionPool({ origin, tls, connectionsMax, connectMsMax }: PoolOptions): Connections {
  return new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
    connect: {
      timeout: connectMsMax,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      ...(tls !== undefined && tlsOptions(tls)),
    },
  })
}

function tlsOptions({ ca, cert, key, rejectUnauthorized, servername }: ServerTls) {
  return {
    // Created once for all connections: there are dozens of watches.
    secureContext: createSecureContext({ ca, cert, key }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    ...(servername !== undefined && { servername }),
  }
}
