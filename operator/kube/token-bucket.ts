// A limit on how often something may happen: so many a second in the long run, so many at once. Who comes too early is
// told how long to wait, and has his turn then. The caller brings the time.

export interface TokenBucketLimit {
  readonly perSecond: number
  readonly burst: number
}

export class TokenBucket {
  readonly #limit: TokenBucketLimit
  #tokens: number
  #atMs: number | undefined = undefined

  constructor(limit: TokenBucketLimit) {
    this.#limit = limit
    this.#tokens = limit.burst
  }

  /** Takes a turn; the milliseconds until it has come. */
  take(nowMs: number): number {
    const { perSecond, burst } = this.#limit
    const passedMs = Math.max(nowMs - (this.#atMs ?? nowMs), 0)
    this.#tokens = Math.min(this.#tokens + (passedMs * perSecond) / 1000, burst) - 1
    this.#atMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / perSecond
  }
}
