// Metrics and logs of connections without requests: handshakes, and connections with forwarded bytes.
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { AccessLogRule, RefusedRequest } from '../log/access-log.ts'
import type { MetricLabels } from './metric-labels.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'

/** Metric label `protocol` of the downstream side. */
export type DownstreamProtocol = 'http' | 'https' | 'tcp' | 'tls'

export interface HandshakeResult {
  readonly place: ExchangePlace
  readonly protocol: DownstreamProtocol
  readonly durationMs: number
}

export interface FailedHandshake {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly serverName: string | undefined
  /** For the log: the text of the peer or of OpenSSL. */
  readonly detail: string
  /** The cause is in the proxy, not in the client: the operator of the proxy must see it. */
  readonly isOwnFault?: boolean
}

export interface ConnectionObserver {
  /** To the backend. */
  readonly connected: ConnectObserver
  handshakeFinished(result: HandshakeResult): void
  handshakeFailed(failure: FailedHandshake): void
  /** Before any byte was read. */
  refused(info: RefusedRequest): void
  /** `exchange.responseBytes`: bytes sent to the client. */
  connectionFinished(
    exchange: Exchange,
    info: {
      readonly rule: AccessLogRule | undefined
      readonly metricLabels: MetricLabels | undefined
      readonly receivedBytes: number
    },
  ): void
}
