// Long work as steps between which other work may run: the same code runs at once, or in slices of an event loop. Pure.

/** Yields after each step, and returns the result. */
export type Steps<T> = Generator<void, T, void>

/** Items between two yields: a yield costs more than most items. */
const ITEMS_OF_STEP = 128

/** All of it at once. */
export function runAll<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

export interface Slicing {
  /** Wall time; the slice ends with the step in which it has passed. */
  readonly sliceMs: number
  readonly nowMs: () => number
  /** Between two slices: other work of the thread runs. It may throw to stop the work. */
  readonly pause: () => Promise<unknown>
}

export async function runInSlices<T>(steps: Steps<T>, { sliceMs, nowMs, pause }: Slicing): Promise<T> {
  let endMs = nowMs() + sliceMs
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (nowMs() < endMs) continue
    await pause()
    endMs = nowMs() + sliceMs
  }
}

/** Calls `take` for each item. */
export function* eachOf<T>(items: Iterable<T>, take: (item: T) => void): Steps<void> {
  let count = 0
  for (const item of items) {
    take(item)
    if (++count % ITEMS_OF_STEP === 0) yield
  }
}
