// The x-ratelimit headers: the common report of local and global limits. The limit with the fewest remaining wins. A
// rejection also has `retry-after`, the only one of these headers that SDKs of model providers read.
import type { Exchange } from '../../exchange/exchange.ts'
import type { RateLimitState } from '../../exchange/facts.ts'
import type { HttpResponse } from '../../message/message.ts'

/** Fewest remaining wins. */
export function noteRateLimit(exchange: Exchange, state: RateLimitState): void {
  if (exchange.rateLimit === undefined || state.remaining < exchange.rateLimit.remaining) exchange.rateLimit = state
}

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** Skipped if the backend, or an earlier policy, has reported its own limit: two limits would be mixed. */
export function addRateLimitHeaders(exchange: Exchange): undefined {
  const { rateLimit, response } = exchange
  if (rateLimit === undefined || response === undefined) return undefined
  const { headers } = response
  // Headers of a service are merged into the response when it is sent.
  if (NAMES.some((name) => headers.has(name) || exchange.queuedResponseHeaders?.includes(name) === true)) {
    return undefined
  }
  headers.append('x-ratelimit-limit', String(rateLimit.limit))
  headers.append('x-ratelimit-remaining', String(rateLimit.remaining))
  headers.append('x-ratelimit-reset', String(rateLimit.resetSeconds))
  return undefined
}

/** @param resetSeconds until the limit lets requests pass again; 0: unknown */
export function refusal(exchange: Exchange, detail: string | undefined, resetSeconds: number): HttpResponse {
  const response = exchange.fail('rateLimited', detail)
  if (resetSeconds > 0) response.headers.set('retry-after', String(resetSeconds))
  return response
}
