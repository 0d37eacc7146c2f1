// A limit on how often something may happen: so many a second in the long run, so many at once. A caller that comes too
// early gets the time to wait, and a reserved turn. The caller passes the current time.

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

  /** Reserves a turn; returns the milliseconds until it. */
  take(nowMs: number): number {
    this.#fill(nowMs)
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / this.#limit.perSecond
  }

  /** Takes a turn only if one is available now. */
  tryTake(nowMs: number): boolean {
    this.#fill(nowMs)
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  #fill(nowMs: number): void {
    const { perSecond, burst } = this.#limit
    const passedMs = Math.max(nowMs - (this.#atMs ?? nowMs), 0)
    this.#tokens = Math.min(this.#tokens + (passedMs * perSecond) / 1000, burst)
    this.#atMs = nowMs
  }
}
