// How much of what costs the proxy and not the client one connection may cause: a bucket that refills with time.

export class FloodGuard {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #filledMs: number

  constructor({ burst, perSecond }: { burst: number; perSecond: number }, nowMs: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
    this.#filledMs = nowMs
  }

  /** False: the connection has used up what it may cause. */
  take(nowMs: number): boolean {
    const refilled = this.#left + ((nowMs - this.#filledMs) / 1000) * this.#perSecond
    this.#left = Math.min(this.#burst, refilled) - 1
    this.#filledMs = nowMs
    return this.#left >= 0
  }

  /** Honest work was done. */
  earn(): void {
    if (this.#left < this.#burst) this.#left++
  }
}
