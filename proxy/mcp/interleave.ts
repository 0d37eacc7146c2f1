// Several streams as one.
import type { Cancellable } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'

/** Items of several streams in the order of arrival. Ends when all have ended; cancelling it cancels all. */
export function interleave<T>(streams: readonly Cancellable<T>[]): Cancellable<T> {
  return madeStream(interleaved(streams), () => cancelAll(streams))
}

interface Arrived<T> {
  readonly iterator: AsyncIterator<T>
  readonly step: Promise<IteratorResult<T>>
}

/**
 * Each stream is asked for its next item when the last one was taken. Not with `Promise.race`: each call would leave a
 * reaction on the promise of a silent stream, as long as that stream is open.
 */
async function* interleaved<T>(streams: readonly Cancellable<T>[]): AsyncGenerator<T> {
  const arrived: Arrived<T>[] = []
  let wake = (): void => {}
  const ask = (iterator: AsyncIterator<T>): void => {
    const step = iterator.next()
    const note = (): void => {
      arrived.push({ iterator, step })
      wake()
    }
    step.then(note, note)
  }
  let open = streams.length
  for (const stream of streams) ask(stream[Symbol.asyncIterator]())
  try {
    while (open > 0) {
      const first = arrived.shift()
      if (first === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
        continue
      }
      // It is settled; this throws if the stream has failed.
      const step = await first.step
      if (step.done === true) {
        open--
        continue
      }
      yield step.value
      ask(first.iterator)
    }
  } finally {
    cancelAll(streams)
  }
}

function cancelAll(streams: readonly Cancellable<unknown>[]): void {
  for (const stream of streams) stream.cancel()
}
