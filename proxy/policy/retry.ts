// Decides whether a request may be sent again, and after which answers (data-plane supplement section 1.7). Sending it
// again is replay.ts.
import type { Retry } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange.ts'
import type { FailureCode } from '../errors.ts'
import type { ChainEnvironment } from './environment.ts'
import { isTrue, readsBody } from '../cel/evaluate.ts'
import type { CompiledPolicy } from './filter.ts'

export interface CompiledRetry {
  /** How many times more. */
  readonly attempts: number
  readonly codes: ReadonlySet<number>
  /** undefined: at once. */
  readonly backoffMs: number | undefined
  readonly condition: CelExpression | undefined
  readonly readsResponseBody: boolean
}

/** The request did not get to the backend, or no answer came back. */
const RETRIED: ReadonlySet<FailureCode | undefined> = new Set<FailureCode | undefined>([
  'dnsFailure',
  'upstreamFailure',
  'upstreamTimeout',
])

/** The filter only marks the exchange: nothing else of a request knows about retries unless it is marked. */
export function compileRetry(retry: Retry, environment: Pick<ChainEnvironment, 'expression'>): CompiledPolicy {
  const precondition = retry.precondition === undefined ? undefined : environment.expression(retry.precondition)
  const condition = retry.condition === undefined ? undefined : environment.expression(retry.condition)
  const compiled: CompiledRetry = {
    attempts: retry.attempts,
    codes: new Set(retry.codes),
    backoffMs: retry.backoffMs,
    condition,
    readsResponseBody: readsBody([condition], 'response'),
  }
  return {
    request: (exchange) => {
      if (precondition === undefined || isTrue(precondition, exchange)) {
        exchange.retry = compiled
        exchange.trace?.note(`up to ${compiled.attempts} more tries`)
      } else exchange.trace?.skip('the precondition is not true')
      return undefined
    },
    readsRequestBody: readsBody([precondition], 'request'),
  }
}

/** Answers of the proxy itself are final, but for calls that failed: those the proxy can tell from its own refusals. */
export function isRetryable({ codes, condition }: CompiledRetry, exchange: Exchange): boolean {
  const { response } = exchange
  if (response === undefined) return false
  if (response.isLocal) return RETRIED.has(exchange.failure) && !exchange.connection.signal.aborted
  return codes.has(response.status) || (condition !== undefined && isTrue(condition, exchange))
}
