// Token buckets of one proxy: requests are charged before they are forwarded; LLM tokens after the response, those of
// a prompt that was counted before the call.
import type { RateLimitOrConditional } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { PolicyEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import type { TokenLimit } from '../../exchange/slots.ts'
import type { HttpResponse } from '../../message/message.ts'
import { addRateLimitHeaders, noteRateLimit, refusal } from './rate-limit-headers.ts'
import { keyedLimits, type KeyedLimit } from './rate-limit-store.ts'
import type { RateLimitBucket } from '../../chain/rate-limits.ts'
import { isBilled, usedTokens } from './used-tokens.ts'

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
  const buckets = entries.filter(({ cost }) => cost === 0).map(({ bucket }) => bucket)
  if (buckets.length === 0) return { request: (exchange) => takeAll(entries, exchange), response: addRateLimitHeaders }
  const tokens = new TokenBuckets(entries, buckets)
  return {
    request: (exchange) => takeAll(entries, exchange) ?? checkTokens(tokens, exchange),
    response: addRateLimitHeaders,
    finished: (exchange) => tokens.settle(exchange),
  }
}

interface Entry {
  readonly bucket: RateLimitBucket
  readonly cost: number
}

function takeAll(entries: readonly Entry[], exchange: Exchange): HttpResponse | undefined {
  const nowMs = timeOrigin + exchange.startMs
  let index = 0
  for (const { bucket, cost } of entries) {
    const state = bucket.take(cost, nowMs)
    if (!state.isAllowed) return refuse(exchange, state, index)
    noteRateLimit(exchange, state)
    index++
  }
  return undefined
}

function checkTokens(tokens: TokenBuckets, exchange: Exchange): undefined {
  ;(exchange.tokenLimits ??= []).push(tokens)
  return undefined
}

function refuse(exchange: Exchange, state: ReturnType<RateLimitBucket['take']>, index: number): HttpResponse {
  exchange.trace?.note(`limits[${index}] is exhausted`)
  exchange.rateLimit = { limit: state.limit, remaining: state.remaining, resetSeconds: state.resetSeconds }
  return refusal(exchange, undefined, state.resetSeconds)
}

/** The limits on tokens of one policy. */
class TokenBuckets implements TokenLimit<Exchange> {
  readonly #entries: readonly Entry[]
  readonly #buckets: readonly RateLimitBucket[]

  constructor(entries: readonly Entry[], buckets: readonly RateLimitBucket[]) {
    this.#entries = entries
    this.#buckets = buckets
  }

  chargePrompt(exchange: Exchange, tokens: number): HttpResponse | undefined {
    const nowMs = timeOrigin + performance.now()
    for (const [taken, bucket] of this.#buckets.entries()) {
      const state = bucket.take(tokens, nowMs)
      if (!state.isAllowed) {
        for (const other of this.#buckets.slice(0, taken)) other.charge(-tokens, nowMs)
        return refuse(
          exchange,
          state,
          this.#entries.findIndex((entry) => entry.bucket === bucket),
        )
      }
      noteRateLimit(exchange, state)
    }
    ;(exchange.policyState ??= new Map()).set(this, tokens)
    return undefined
  }

  /** Charges the tokens of the call, less those of the prompt that are charged already. */
  settle(exchange: Exchange): void {
    // Only `chargePrompt` writes under this key.
    const charged = (exchange.policyState?.get(this) as number | undefined) ?? 0
    const tokens = (usedTokens(exchange) ?? (isBilled(exchange) ? charged : 0)) - charged
    if (tokens === 0) return
    const nowMs = timeOrigin + performance.now()
    for (const bucket of this.#buckets) bucket.charge(tokens, nowMs)
  }
}
