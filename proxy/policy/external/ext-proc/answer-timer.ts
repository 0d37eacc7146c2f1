// Deadline for pending responses of a processor, including extensions that it requests. One timer for each session.
import { DeadlineWheel, type Expiring } from '../../../socket/deadlines.ts'

const wheel = new DeadlineWheel()

export class AnswerTimer implements Expiring {
  readonly #onExpired: () => void
  #slot: number | undefined = undefined
  #dueMs = Infinity
  #isExtended = false

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired
  }

  /** The time runs while a response is pending; otherwise only `dueMs` counts, which may be never. */
  keep(isOwed: boolean, dueMs: number): void {
    const isKept = this.#slot !== undefined && isOwed && (this.#isExtended || this.#dueMs <= dueMs)
    if (!isKept) this.restart(dueMs)
  }

  restart(dueMs: number): void {
    this.#clear()
    if (dueMs === Infinity) return
    this.#dueMs = dueMs
    this.#slot = wheel.add(this, dueMs)
  }

  /** Once for each response. */
  extend(dueMs: number): void {
    if (this.#isExtended || this.#slot === undefined) return
    this.#isExtended = true
    this.restart(dueMs)
  }

  /** A response arrived, or none is pending any more. */
  stop(): void {
    this.#isExtended = false
    this.#clear()
  }

  expired(): void {
    this.#slot = undefined
    this.#onExpired()
  }

  #clear(): void {
    if (this.#slot !== undefined) wheel.remove(this, this.#slot)
    this.#slot = undefined
  }
}
