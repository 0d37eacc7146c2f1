// Decides whether a request may be sent again, and after which answers (data-plane supplement section 1.7). Sending it
// again is replay.ts.
import type { Retry } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { RetryRule } from '../../exchange/slots.ts'
import type { FailureCode } from '../../exchange/errors.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { isTrue, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'

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
  const compiled: RetryRule = {
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
export function isRetryable({ codes, condition }: RetryRule, exchange: Exchange): boolean {
  const { response } = exchange
  if (response === undefined) return false
  if (response.isLocal) return RETRIED.has(exchange.failure) && !exchange.connection.signal.aborted
  return codes.has(response.status) || (condition !== undefined && isTrue(condition, exchange))
}
