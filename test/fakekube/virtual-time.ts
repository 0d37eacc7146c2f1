// Time that advances only when no work is left: an hour of an operator's waits takes milliseconds, and the result does
// not depend on the load of the machine. One clock for effects and for promises.
import { setImmediate as turn } from 'node:timers/promises'
import { type Clock, Duration, Effect } from 'effect'

interface Timer {
  readonly atMs: number
  readonly fire: () => void
}

/** Turns of the event loop without activity: after them all fibers and promises are waiting. */
const QUIET_TURNS = 3

export class VirtualTime {
  #nowMs = Date.UTC(2026, 0, 1)
  /** In order. */
  readonly #timers: Timer[] = []
  #activity = 0

  readonly clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => this.#nowMs,
    currentTimeMillis: Effect.sync(() => this.#nowMs),
    currentTimeNanosUnsafe: () => this.#nanos(),
    currentTimeNanos: Effect.sync(() => this.#nanos()),
    monotonicTimeNanosUnsafe: () => this.#nanos(),
    monotonicTimeNanos: Effect.sync(() => this.#nanos()),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const cancel = this.#after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      }),
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Reports an event after which others may continue. */
  touch(): void {
    this.#activity++
  }

  /** Rejects with the reason of the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    // Of an AbortSignal: an error.
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = (): void => {
      cancel()
      // As above.
      reject(signal?.reason as Error)
    }
    const cancel = this.#after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
    return promise
  }

  /** Advances time until the condition is true; checks it whenever no work is left. false: it never was. */
  async until(condition: () => boolean, msMax: number): Promise<boolean> {
    const end = this.#nowMs + msMax
    for (;;) {
      await this.#settle()
      if (condition()) return true
      const next = this.#timers[0]
      if (next === undefined || next.atMs > end) {
        this.#nowMs = end
        return false
      }
      this.#nowMs = next.atMs
      while (this.#timers[0] !== undefined && this.#timers[0].atMs <= this.#nowMs) this.#timers.shift()?.fire()
    }
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms)
  }

  /** Advances time until the promise is settled. */
  async wait<T>(promise: Promise<T>, msMax: number): Promise<T> {
    let isDone = false
    const done = (): void => {
      isDone = true
      this.touch()
    }
    promise.then(done, done)
    if (!(await this.until(() => isDone, msMax))) throw new Error(`not done within ${msMax} ms`)
    return promise
  }

  #nanos(): bigint {
    return BigInt(Math.round(this.#nowMs)) * 1_000_000n
  }

  #after(ms: number, fire: () => void): () => void {
    this.touch()
    const timer: Timer = {
      atMs: this.#nowMs + Math.max(ms, 0),
      fire: () => {
        this.touch()
        fire()
      },
    }
    // After the timers with the same time.
    const index = this.#timers.findIndex(({ atMs }) => atMs > timer.atMs)
    this.#timers.splice(index === -1 ? this.#timers.length : index, 0, timer)
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at !== -1) this.#timers.splice(at, 1)
    }
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      const before = this.#activity
      await turn()
      if (this.#activity !== before) quiet = -1
    }
  }
}
