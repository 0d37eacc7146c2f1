// Whether a request is traced (data-plane supplement section 6.4), and what its trace context becomes. Runs once for
// each request of a listener with a tracing policy.
import { CelUint } from '#api/cel/values/uint.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { RequestSpan, type SpanRule } from './request-span.ts'
import { parseTraceparent } from '../message/trace-context.ts'

export interface TracingRule extends SpanRule {
  /** Gives a share or a boolean. undefined: no request without a trace is sampled. Must not throw. */
  readonly randomSampling: ((exchange: Exchange) => unknown) | undefined
  /** undefined: every request with a trace is sampled. */
  readonly clientSampling: ((exchange: Exchange) => unknown) | undefined
}

export function beginSpan(exchange: Exchange, rule: TracingRule): void {
  const { headers } = exchange.request
  const parent = parseTraceparent(headers.get('traceparent'))
  const isSampled =
    parent === undefined
      ? rule.randomSampling !== undefined && isChosen(rule.randomSampling(exchange), Math.random)
      : rule.clientSampling === undefined || isChosen(rule.clientSampling(exchange), Math.random)
  exchange.trace?.write({ type: 'traceSampling', decision: isSampled ? 'sampled' : 'notSampled' })
  if (!isSampled) return
  // A trace state belongs to the trace it came with (W3C Trace Context section 3.3.1.1).
  if (parent === undefined) headers.remove('tracestate')
  const span = new RequestSpan(rule, parent, headers.getAll('tracestate').join(','))
  headers.set('traceparent', span.traceparent)
  exchange.span = span
}

/** A failed expression, and what is neither a share nor a boolean, samples nothing. */
export function isChosen(value: unknown, random: () => number): boolean {
  if (typeof value === 'boolean') return value
  const share = value instanceof CelUint ? Number(value.value) : typeof value === 'bigint' ? Number(value) : value
  return typeof share === 'number' && random() < share
}
