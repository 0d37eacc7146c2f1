// Where connections report what requests cannot: handshakes, and connections whose bytes are passed on.
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
  /** For the log; what the peer or OpenSSL said. */
  readonly detail: string
  /** No client could have done better: whoever runs the proxy has to know. */
  readonly isOwnFault?: boolean
}

export interface ConnectionObserver {
  /** To the backend. */
  readonly connected: ConnectObserver
  handshakeFinished(result: HandshakeResult): void
  handshakeFailed(failure: FailedHandshake): void
  /** Before anything of it was read. */
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
