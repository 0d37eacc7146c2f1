// A body that is copied, up to a limit, while it is forwarded. The copy does not buffer the body: the reader sets the
// pace.
import type { Cancellable, OutgoingBody } from '../message/body.ts'
import { type BodyObserver, IncomingBody } from '../message/incoming-body.ts'
import { Tunnel } from '../socket/tunnel.ts'

export interface BodyRecord {
  /** At most the limit. */
  readonly bytes: Buffer
  readonly isTruncated: boolean
}

/** Calls `done` once, at the end of the body or when `over` is called for another reason. */
export class BodyRecorder implements BodyObserver {
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #isTruncated = false
  #done: ((record: BodyRecord) => void) | undefined

  constructor(bytesMax: number, done: (record: BodyRecord) => void) {
    this.#bytesMax = bytesMax
    this.#done = done
  }

  seen(buffer: Buffer, start: number, end: number): void {
    if (this.#done === undefined || start === end) return
    const room = Math.max(0, this.#bytesMax - this.#bytes)
    if (end - start > room) this.#isTruncated = true
    if (room === 0) return
    // A copy: the owner of the buffer changes or reuses it.
    const copy = Buffer.from(buffer.subarray(start, Math.min(end, start + room)))
    this.#chunks.push(copy)
    this.#bytes += copy.length
  }

  over(): void {
    const done = this.#done
    this.#done = undefined
    done?.({ bytes: Buffer.concat(this.#chunks, this.#bytes), isTruncated: this.#isTruncated })
    this.#chunks.length = 0
  }
}

/**
 * Shows a body to `recorder` while it is forwarded. @returns the body to use in its place: the same one except for
 * streams.
 */
export function recordBody(body: OutgoingBody, recorder: BodyObserver): OutgoingBody {
  if (body === undefined || body instanceof Tunnel) return body
  if (body instanceof IncomingBody) {
    body.observe(recorder)
    return body
  }
  if (typeof body === 'object' && !Buffer.isBuffer(body)) return recordedStream(body, recorder)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  recorder.seen(bytes, 0, bytes.length)
  recorder.over()
  return body
}

/** A body that a backend produces while it is read, such as a translated stream, with the methods for its reader. */
export function recordedStream(source: Cancellable<Buffer>, recorder: BodyObserver): Cancellable<Buffer> {
  return {
    ...('length' in source && { length: source.length }),
    [Symbol.asyncIterator]() {
      return recordedIterator(source[Symbol.asyncIterator](), recorder)
    },
    cancel() {
      recorder.over()
      source.cancel()
    },
  }
}

/** Not a generator: one that was never started would not report that its reader has stopped. */
function recordedIterator(source: AsyncIterator<Buffer>, recorder: BodyObserver): AsyncIterator<Buffer, undefined> {
  return {
    async next() {
      try {
        const result = await source.next()
        if (result.done === true) {
          recorder.over()
          return { done: true, value: undefined }
        }
        recorder.seen(result.value, 0, result.value.length)
        return { done: false, value: result.value }
      } catch (error) {
        recorder.over()
        throw error
      }
    },
    async return() {
      recorder.over()
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}
