// Running totals of counters, and what they have gained since the last reading of all of them.

/** Each reading begins, adds the total of each counter to its slot, and then has what each slot gained. */
export class RunningTotals {
  #former: Float64Array
  #current: Float64Array

  constructor(slots: number) {
    this.#former = new Float64Array(slots)
    this.#current = new Float64Array(slots)
  }

  get current(): Float64Array {
    return this.#current
  }

  begin(): void {
    ;[this.#former, this.#current] = [this.#current, this.#former]
    this.#current.fill(0)
  }

  add(slot: number, count: number): void {
    this.#current[slot] = (this.#current[slot] ?? 0) + count
  }

  /** Of each slot in turn. */
  forEachGain(take: (gain: number, slot: number) => void): void {
    this.#current.forEach((total, slot) => take(total - (this.#former[slot] ?? 0), slot))
  }
}
