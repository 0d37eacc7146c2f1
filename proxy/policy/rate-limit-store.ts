// Token buckets of local rate limits, exact over all workers of a proxy.

export interface RateLimitBucket {
  /** Takes `count` tokens if they are there. `remaining` and `resetSeconds` are for the x-ratelimit headers. */
  take(count: number, nowMs: number): { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number }
  /** Charges after the fact (LLM tokens); floors at 0. */
  charge(count: number, nowMs: number): void
}

export interface RateLimitStore {
  /** The bucket of a limit; `key` is stable over configuration changes that do not touch the limit. */
  bucket(key: string, limit: { tokensPerFill: number; fillIntervalMs: number; tokensMax: number }): RateLimitBucket
}
