// The x-ratelimit headers: what local and global limits report together. The limit closest to its end speaks for all.
import type { Exchange } from '../../exchange/exchange.ts'
import type { RateLimitState } from '../../exchange/facts.ts'

/** Fewest remaining wins. */
export function noteRateLimit(exchange: Exchange, state: RateLimitState): void {
  if (exchange.rateLimit === undefined || state.remaining < exchange.rateLimit.remaining) exchange.rateLimit = state
}

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** Skipped when the backend, or a policy before, has reported a limit of its own: two limits would be mixed. */
export function addRateLimitHeaders(exchange: Exchange): undefined {
  const { rateLimit, response } = exchange
  if (rateLimit === undefined || response === undefined) return undefined
  const { headers } = response
  // What a service asked for is merged into the response when it goes out.
  if (NAMES.some((name) => headers.has(name) || exchange.queuedResponseHeaders?.includes(name) === true)) {
    return undefined
  }
  headers.append('x-ratelimit-limit', String(rateLimit.limit))
  headers.append('x-ratelimit-remaining', String(rateLimit.remaining))
  headers.append('x-ratelimit-reset', String(rateLimit.resetSeconds))
  return undefined
}
