// The seam between the HTTP engine (server side) and the pipeline.
import type net from 'node:net'
import type { Probes } from '#api/ir/keepalive.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ProxyRule } from '../socket/proxy-header.ts'
import type { TransferredBytes } from './byte-meter.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'

/** Limits of one bind, from the merged `frontend.http`; a change applies to the next request of a connection. */
export interface ConnectionLimits {
  readonly headersMax: number
  /** Request line and header block together, bytes. */
  readonly headerBytesMax: number
  readonly bufferBytesMax: number
  readonly idleTimeoutMs: number
  /** Without a byte of a body that is waited for before the response begins; Infinity: as `idleTimeoutMs`. */
  readonly bodyIdleTimeoutMs: number
  readonly preserveHeaderCase: boolean
  /** undefined: no limit. */
  readonly maxConnectionDurationMs: number | undefined
  /** `frontend.tcp.keepalive`, of connections accepted from now on. */
  readonly keepalive?: Probes | undefined
  /** Only for HTTP/2; what is unset has the default of http2/limits.ts. */
  readonly http2?: Http2Options | undefined
}

/** `frontend.http.http2*`. */
export interface Http2Options {
  readonly windowBytes?: number | undefined
  readonly connectionWindowBytes?: number | undefined
  readonly frameBytes?: number | undefined
  readonly headerBytesMax?: number | undefined
  readonly keepaliveIntervalMs?: number | undefined
  readonly keepaliveTimeoutMs?: number | undefined
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  headersMax: 100,
  headerBytesMax: 65_536,
  bufferBytesMax: 2 * 1024 * 1024,
  idleTimeoutMs: 600_000,
  bodyIdleTimeoutMs: 30_000,
  preserveHeaderCase: false,
  maxConnectionDurationMs: undefined,
}

export interface RequestHandler {
  readonly limits: ConnectionLimits
  /**
   * False: the connection is closed before a byte is read (`frontend.networkAuthorization`). Absent: all are admitted.
   */
  readonly admits?: ((facts: ConnectionFacts) => boolean) | undefined
  /** `frontend.proxyProtocol`, for connections accepted from now on. */
  readonly proxyProtocol?: ProxyRule | undefined
  /**
   * Called once for each request when its head is complete. Must lead to exactly one `respond(exchange)`, now or later,
   * with `exchange.response` set. Never throws and never rejects.
   */
  handle(exchange: Exchange, respond: (exchange: Exchange) => void): void
  /** Called once after the response went out in full, or the connection broke (`isComplete` false). */
  finished(exchange: Exchange, isComplete: boolean): void
  /** Bytes of a connection, now and then while it is used and when it is over. */
  transferred(bytes: TransferredBytes): void
  /** For log and metrics. */
  refused(info: Refusal): void
}

/**
 * What was refused before there was an exchange: a request by the engine (malformed, too large, timed out), or a
 * connection, which gets no answer.
 */
export interface Refusal {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly status: number
  readonly detail: string
  /** Log field `reason`; unset: `InvalidRequest`. */
  readonly reason?: 'Authorization'
}

/** A connection that `admits` turns away. */
export function notAdmitted({ sourceAddress, sourcePort }: ConnectionFacts): Refusal {
  const detail = 'frontend.networkAuthorization does not admit this connection'
  return { sourceAddress, sourcePort, status: 403, detail, reason: 'Authorization' }
}

/** The handler a connection serves; replaced as a whole when the configuration changes. */
export interface HandlerSlot {
  current: RequestHandler
}

/** `early`: the bytes read so far, starting with the preface. The socket is paused and has no other reader. */
export type Http2Takeover = (
  socket: net.Socket,
  early: Buffer,
  served: { readonly facts: ConnectionFacts; readonly slot: HandlerSlot },
) => void
