// Token buckets that policies take from. policy/limits/rate-limit-store.ts keeps them.

export interface RateLimitBucket {
  /**
   * Takes `count` tokens if they are there; 0 only asks whether any is left. `remaining` and `resetSeconds` are for the
   * x-ratelimit headers. `nowMs` is wall-clock time: all workers share it.
   */
  take(count: number, nowMs: number): { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number }
  /** Charges after the fact (LLM tokens); floors at 0. */
  charge(count: number, nowMs: number): void
}

export interface BucketLimit {
  readonly tokensPerFill: number
  readonly fillIntervalMs: number
  readonly tokensMax: number
}

export interface RateLimitStore {
  /** The bucket of a limit; `key` is stable over configuration changes that do not touch the limit. */
  bucket(key: string, limit: BucketLimit): RateLimitBucket
}
