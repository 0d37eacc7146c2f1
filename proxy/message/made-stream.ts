// Streams that a generator makes of others: cancelling one cancels what it is made from. Knows no bodies or messages.
import type { Cancellable } from './body.ts'

/**
 * `made`: not begun. `release`: frees the sources at once, such as by their `cancel()`; harmless after their end. What
 * the generator frees in `finally` is not enough: that does not run while the generator waits, or has not begun.
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
    // A generator that fails while it is being stopped has nobody left to report to.
    this.#made.return().catch(() => {})
  }
}
