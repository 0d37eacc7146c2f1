// The span of a sampled request, and those of its calls, as other folders use them. otlp/request-span.ts implements it;
// `E` is the exchange, which this file does not import.
import type { HttpRequest } from '../message/message.ts'

/** Label `subtype` of gw_upstream_call_duration_seconds (data-plane supplement section 6.2). */
export type CallSubtype = 'Http' | 'Llm' | 'Mcp' | 'ExtAuthz' | 'ExtProc' | 'Guardrail' | 'RateLimit' | 'Oidc'
export type CallKind = 'Primary' | 'Policy' | 'Mirror'

export interface OutboundInit {
  readonly kind: CallKind
  readonly subtype: CallSubtype
  /** `host:port` */
  readonly target: string
  readonly request: HttpRequest
}

/** The result of a call; `error` only if it failed in transport. */
export interface OutboundEnd {
  readonly status?: number | undefined
  readonly grpcStatus?: number | undefined
  readonly error?: string | undefined
}

/** A span of a call. */
export interface CallSpan {
  readonly traceparent: string
  /** Called once. `endpoint`: the target, if it was not known at the start. */
  end(end: OutboundEnd, endpoint?: string): void
}

export interface RequestSpan<E> {
  readonly traceId: string
  readonly spanId: string
  /** Label of the match that selected the route, such as `/api/*`. */
  matchLabel: string | undefined
  /**
   * Joins the trace of the client that a message names, not its headers; false: the request has a trace already.
   * The header `traceparent` follows.
   */
  join(request: HttpRequest, traceparent: string, traceState: string | undefined): boolean
  /** For the handler of the backend: trace headers of the call, and its end as the handler reports it. */
  callBackend(exchange: E, done: (exchange: E) => void): (exchange: E) => void
  /** @returns a span that does nothing if there are too many spans. */
  call(init: OutboundInit): CallSpan
  /** The response is over. */
  finish(exchange: E, endMs: number): void
}
