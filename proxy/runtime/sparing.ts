// Keeps what clients can cause as often as they like from filling the log.

const INTERVAL_MS = 30_000
/** Lines in an interval, of what clients can cause as often as they like. */
const SPARING_LINES = 10

/** True for the first calls of an interval; counts the others. */
export class Sparing {
  #startMs = -Infinity
  #lines = 0
  #leftOut = 0

  isDue(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#startMs >= INTERVAL_MS) {
      this.#startMs = nowMs
      this.#lines = 0
    }
    if (this.#lines === SPARING_LINES) {
      this.#leftOut++
      return false
    }
    this.#lines++
    return true
  }

  /** Since it was last asked for. */
  leftOut(): number {
    const count = this.#leftOut
    this.#leftOut = 0
    return count
  }
}
