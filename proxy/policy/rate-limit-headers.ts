// The x-ratelimit headers: what local and global limits report together. The limit closest to its end speaks for all.
import type { Exchange, RateLimitState } from '../exchange.ts'

/** Fewest remaining wins. */
export function noteRateLimit(exchange: Exchange, state: RateLimitState): void {
  if (exchange.rateLimit === undefined || state.remaining < exchange.rateLimit.remaining) exchange.rateLimit = state
}

/** Skipped when the backend, or a policy before, has reported a limit of its own. */
export function addRateLimitHeaders(exchange: Exchange): undefined {
  const { rateLimit, response } = exchange
  if (rateLimit === undefined || response === undefined) return undefined
  const { headers } = response
  if (headers.has('x-ratelimit-limit') || headers.has('x-ratelimit-remaining') || headers.has('x-ratelimit-reset')) {
    return undefined
  }
  headers.append('x-ratelimit-limit', String(rateLimit.limit))
  headers.append('x-ratelimit-remaining', String(rateLimit.remaining))
  headers.append('x-ratelimit-reset', String(rateLimit.resetSeconds))
  return undefined
}
