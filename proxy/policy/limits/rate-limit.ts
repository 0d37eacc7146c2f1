// Token buckets of one proxy: requests are charged before they are forwarded, LLM tokens after the response.
import type { RateLimitOrConditional } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { PolicyEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'
import { addRateLimitHeaders, noteRateLimit } from './rate-limit-headers.ts'
import { keyedLimits, type KeyedLimit } from './rate-limit-store.ts'
import type { RateLimitBucket } from '../../chain/rate-limits.ts'

/** Workers have clocks with different origins; buckets are shared, so they use wall-clock time. */
const { timeOrigin } = performance

type Environment = Pick<PolicyEnvironment, 'rateLimits' | 'policyKey' | 'expression'>

export function compileRateLimit(payload: RateLimitOrConditional, environment: Environment): CompiledPolicy {
  const entries = keyedLimits(environment.policyKey, payload)
  const [only] = entries
  return 'conditional' in payload || only === undefined
    ? compileConditional(entries, environment, (limits) => compileLimits(limits, environment))
    : compileLimits(only.policy, environment)
}

function compileLimits(limits: readonly KeyedLimit[], { rateLimits }: Environment): CompiledPolicy {
  const entries = limits.map(({ key, limit }) => ({
    bucket: rateLimits.bucket(key, limit),
    // A limit on tokens only checks whether any is left: the number is known later.
    cost: limit.unit === 'Requests' ? 1 : 0,
  }))
  const tokenBuckets = entries.filter(({ cost }) => cost === 0).map(({ bucket }) => bucket)
  const policy: CompiledPolicy = { request: (exchange) => takeAll(entries, exchange), response: addRateLimitHeaders }
  return tokenBuckets.length === 0 ? policy : { ...policy, finished: (exchange) => chargeAll(tokenBuckets, exchange) }
}

function takeAll(entries: readonly { bucket: RateLimitBucket; cost: number }[], exchange: Exchange): Verdict {
  const nowMs = timeOrigin + exchange.startMs
  for (const [index, { bucket, cost }] of entries.entries()) {
    const state = bucket.take(cost, nowMs)
    if (!state.isAllowed) {
      exchange.trace?.note(`limits[${index}] is exhausted`)
      exchange.rateLimit = { limit: state.limit, remaining: 0, resetSeconds: state.resetSeconds }
      return exchange.fail('rateLimited')
    }
    noteRateLimit(exchange, state)
  }
  return undefined
}

function chargeAll(buckets: readonly RateLimitBucket[], exchange: Exchange): void {
  const { llm } = exchange
  if (llm === undefined) return
  const tokens = llm.totalTokens ?? (llm.inputTokens ?? 0) + (llm.outputTokens ?? 0)
  if (tokens <= 0) return
  const nowMs = timeOrigin + performance.now()
  for (const bucket of buckets) bucket.charge(tokens, nowMs)
}
