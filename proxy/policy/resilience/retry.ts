// Decides whether a request may be sent again, and after which responses (data-plane supplement section 1.7). replay.ts
// sends it again.
import type { Retry } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { RetryRule } from '../../exchange/slots.ts'
import type { FailureCode } from '../../exchange/errors.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { isTrue, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'

/** The request did not reach the backend, or no response arrived. */
const RETRIED: ReadonlySet<FailureCode | undefined> = new Set<FailureCode | undefined>([
  'dnsFailure',
  'upstreamFailure',
  'upstreamTimeout',
])

/** The filter only marks the exchange: the rest of a request does not depend on retries unless it is marked. */
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

/** Responses of the proxy itself are final, except failed calls, which the proxy distinguishes from its rejections. */
export function isRetryable({ codes, condition }: RetryRule, exchange: Exchange): boolean {
  const { response } = exchange
  if (response === undefined) return false
  if (response.isLocal) return RETRIED.has(exchange.failure) && !exchange.connection.signal.aborted
  return codes.has(response.status) || (condition !== undefined && isTrue(condition, exchange))
}
