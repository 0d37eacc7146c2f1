// Token buckets that policies take from. policy/limits/rate-limit-store.ts keeps them.

export interface RateLimitBucket {
  /**
   * Takes `count` tokens if available; 0 only checks whether a token is left. `remaining` and `resetSeconds` are for
   * the x-ratelimit headers. `nowMs` is wall-clock time: all workers share it.
   */
  take(count: number, nowMs: number): { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number }
  /** Charges afterwards (LLM tokens); not below 0. A negative number gives tokens back, up to the limit. */
  charge(count: number, nowMs: number): void
}

export interface BucketLimit {
  readonly tokensPerFill: number
  readonly fillIntervalMs: number
  readonly tokensMax: number
}

export interface RateLimitStore {
  /** The bucket of a limit; `key` stays the same in configuration changes that do not change the limit. */
  bucket(key: string, limit: BucketLimit): RateLimitBucket
}
