// Notices threads whose event loop does not turn. Pure: looks at beats that the threads count in shared memory. A look
// that itself comes late says nothing about others: then the machine stood still, or this thread did.

export interface Watched {
  /** The same for as long as the thread lives. */
  readonly key: object
  readonly beats: number
}

interface Seen {
  readonly beats: number
  readonly sinceMs: number
}

/** A look that is later than this many intervals is a late one. */
const LATE_INTERVALS = 2

export class Watchdog {
  readonly #hangMs: number
  readonly #intervalMs: number
  readonly #seen = new WeakMap<object, Seen>()
  #lookedAtMs = -Infinity

  /** @param hangMs how long a thread may stand still */
  constructor(options: { readonly hangMs: number; readonly intervalMs: number }) {
    this.#hangMs = options.hangMs
    this.#intervalMs = options.intervalMs
  }

  /** The threads that hang, with the time they have stood still; each is named at every look until it is gone. */
  look<T extends Watched>(nowMs: number, threads: readonly T[]): { readonly thread: T; readonly stillMs: number }[] {
    const isLate = nowMs - this.#lookedAtMs > this.#intervalMs * LATE_INTERVALS
    this.#lookedAtMs = nowMs
    const hanging: { thread: T; stillMs: number }[] = []
    for (const thread of threads) {
      const seen = this.#seen.get(thread.key)
      if (isLate || seen === undefined || seen.beats !== thread.beats) {
        this.#seen.set(thread.key, { beats: thread.beats, sinceMs: nowMs })
      } else if (nowMs - seen.sinceMs >= this.#hangMs) {
        hanging.push({ thread, stillMs: nowMs - seen.sinceMs })
      }
    }
    return hanging
  }
}
