// Who hears of requests when they are over: access log, metrics and spans.
import type { ListenerPlan } from '../chain/plan.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OutboundCall } from '../exchange/outbound.ts'
import type { TransferredBytes } from '../http/byte-meter.ts'
import type { RefusedRequest } from '../log/access-log.ts'
import type { ExportOutcome } from '../otlp/hub.ts'

/** What policies of a listener say about observing its requests. */
export type ObservedListener = Pick<ListenerPlan, 'accessLog' | 'metricLabels'>

export interface ExchangeObserver {
  /** `listener`: undefined when none was found. */
  finished(exchange: Exchange, isComplete: boolean, listener: ObservedListener | undefined): void
  /** Bytes of a connection that carries requests. */
  transferred(bytes: TransferredBytes): void
  /** A service that a policy asks, or a mirror, answered or failed. */
  called?(call: OutboundCall): void
  /** Records of spans or logs left, or were lost. */
  exported?(outcome: ExportOutcome): void
  refused(info: RefusedRequest): void
}
