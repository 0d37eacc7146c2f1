// A call of a request other than to its backend (policies, mirrors): the only place that reports it to trace and span.
import type { Exchange } from './exchange.ts'
import type { CallKind, CallSubtype, OutboundEnd, OutboundInit } from './request-span.ts'

export interface OutboundCall {
  readonly kind: Exclude<CallKind, 'Primary'>
  readonly subtype: CallSubtype
  readonly durationMs: number
}

export interface Outbound {
  /** Headers for the call, so that its server is part of the trace; undefined: the request is not sampled. */
  readonly traceparent: string | undefined
  /** Called once; later calls have no effect. */
  end(end: OutboundEnd): void
}

/** The name in the trace of a call that belongs to a request. */
const SCOPES: Readonly<Record<CallSubtype, string>> = {
  Http: 'http',
  Llm: 'llm',
  Mcp: 'mcp',
  ExtAuthz: 'ext_authz',
  ExtProc: 'ext_proc',
  Guardrail: 'guardrail',
  RateLimit: 'rate_limit',
  Oidc: 'oidc',
}

/** For a request that is traced or sampled. */
export function beginOutbound(exchange: Exchange, init: OutboundInit): Outbound {
  const trace = exchange.trace?.scoped(init.kind === 'Mirror' ? 'mirror' : SCOPES[init.subtype])
  trace?.callStart(init.target)
  const span = exchange.span?.call(init)
  let isOver = false
  return {
    traceparent: span?.traceparent,
    end(end) {
      if (isOver) return
      isOver = true
      trace?.backendResult({ status: end.status ?? httpStatusOf(end), error: end.error })
      span?.end(end)
    },
  }
}

/** Converts the status of a gRPC response: the trace has one kind of status. */
function httpStatusOf({ grpcStatus, error }: OutboundEnd): number | undefined {
  return grpcStatus !== undefined && error === undefined ? 200 : undefined
}
