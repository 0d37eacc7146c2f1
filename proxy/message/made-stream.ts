// Streams that a generator derives from others: cancelling one cancels its sources. Independent of bodies and messages.
import type { Cancellable } from './body.ts'

/**
 * `made`: not started. `release`: frees the sources at once, for example with their `cancel()`; no effect after their
 * end. `finally` in the generator is not enough: it does not run while the generator waits, or before it starts.
 */
export function madeStream<T>(made: AsyncGenerator<T, void>, release: () => void): Cancellable<T> {
  return new MadeStream(made, release)
}

class MadeStream<T> implements Cancellable<T>, AsyncIterator<T, void> {
  readonly #made: AsyncGenerator<T, void>
  readonly #release: () => void
  #isCancelled = false

  constructor(made: AsyncGenerator<T, void>, release: () => void) {
    this.#made = made
    this.#release = release
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void> {
    return this
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#made.next()
  }

  return(): Promise<IteratorResult<T, void>> {
    this.cancel()
    return Promise.resolve({ done: true, value: undefined })
  }

  cancel(): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#release()
    // A generator that fails while it is being stopped has no reader left.
    this.#made.return().catch(() => {})
  }
}
