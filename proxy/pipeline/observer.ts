// The receivers of finished requests: access log, metrics and spans.
import type { ListenerPlan } from '../chain/plan.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpSessionEvent } from '../exchange/facts.ts'
import type { OutboundCall } from '../exchange/outbound.ts'
import type { TransferredBytes } from '../http/byte-meter.ts'
import type { RefusedRequest } from '../log/access-log.ts'
import type { ExportOutcome } from '../otlp/destination.ts'

/** Settings of a listener's policies for the observation of its requests. */
export type ObservedListener = Pick<ListenerPlan, 'accessLog' | 'metricLabels'>

export interface ExchangeObserver {
  /** `listener`: undefined if no listener was found. */
  finished(exchange: Exchange, isComplete: boolean, listener: ObservedListener | undefined): void
  /** Bytes of a connection with requests. */
  transferred(bytes: TransferredBytes): void
  /** The call of a policy's service or of a mirror has ended. */
  called?(call: OutboundCall): void
  /** Records of spans or logs were exported or lost. */
  exported?(outcome: ExportOutcome): void
  /** A session with an MCP server was opened again for its client, or ended because its client is gone. */
  mcpSession?(event: McpSessionEvent, server: string): void
  refused(info: RefusedRequest): void
}
