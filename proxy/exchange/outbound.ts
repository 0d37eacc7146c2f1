// A call that a request makes beside its backend (policies, mirrors): the one place where trace and span learn of it.
import type { Exchange } from './exchange.ts'
import type { CallKind, CallSubtype, OutboundEnd, OutboundInit } from './request-span.ts'

export interface OutboundCall {
  readonly kind: Exclude<CallKind, 'Primary'>
  readonly subtype: CallSubtype
  readonly durationMs: number
}

export interface Outbound {
  /** For the call, so that its server is part of the trace; undefined: the request is not sampled. */
  readonly traceparent: string | undefined
  /** Once; later calls do nothing. */
  end(end: OutboundEnd): void
}

/** How the trace calls what is beneath a request. */
const SCOPES: Readonly<Record<CallSubtype, string>> = {
  Http: 'http',
  Llm: 'llm',
  Mcp: 'mcp',
  ExtAuthz: 'ext_authz',
  ExtProc: 'ext_proc',
  Guardrail: 'guardrail',
  RateLimit: 'rate_limit',
}

/** For a request that is watched or sampled. */
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

/** Of a gRPC call that was answered: the trace has one kind of status. */
function httpStatusOf({ grpcStatus, error }: OutboundEnd): number | undefined {
  return grpcStatus !== undefined && error === undefined ? 200 : undefined
}
