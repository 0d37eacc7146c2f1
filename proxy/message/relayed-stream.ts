// A stream that is forwarded as it arrives, from socket to socket. If its source fails, it ends with bytes of its
// watcher. Unlike its source, it cannot be collected: nothing holds it until its end.
import type { Cancellable } from './body.ts'
import { type BodySink, type BodySource, IncomingBody } from './incoming-body.ts'

export interface RelayWatcher {
  /** The range is valid only during the call. */
  seen(buffer: Buffer, start: number, end: number): void
  /** The source ended. */
  over(): void
  /** @returns the last bytes of the stream. */
  failed(error: unknown): Buffer
}

export class RelayedStream implements Cancellable<Buffer>, BodySource, BodySink {
  /** For those who send it, in place of the iterator. */
  readonly body: IncomingBody
  readonly #source: IncomingBody
  readonly #watcher: RelayWatcher
  #isPaused = false

  /** `source`: not read yet. */
  constructor(source: IncomingBody, watcher: RelayWatcher) {
    this.#source = source
    this.#watcher = watcher
    this.body = new IncomingBody(this, undefined)
    source.pipeTo(this)
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    return this.body[Symbol.asyncIterator]()
  }

  cancel(): void {
    this.body.cancel()
  }

  // --- BodySink of the source ---

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    try {
      this.#watcher.seen(buffer, start, end)
    } catch (error) {
      this.#fail(error)
      this.#source.cancel()
      return false
    }
    this.#push(buffer, start, end)
    return !this.#isPaused
  }

  bodyEnd(): void {
    this.#watcher.over()
    this.body.end()
  }

  bodyError(error: Error): void {
    this.#fail(error)
  }

  bodyCancelled(): void {
    this.body.end()
  }

  // --- BodySource of the body ---

  pauseBody(): void {
    this.#isPaused = true
    this.#source.pause()
  }

  resumeBody(): void {
    this.#isPaused = false
    this.#source.resume()
  }

  cancelBody(): void {
    this.#source.cancel()
  }

  #fail(error: unknown): void {
    const last = this.#watcher.failed(error)
    this.#push(last, 0, last.length)
    this.body.end()
  }

  /** The buffer is reused: without a reader its bytes are copied, and the source is paused. */
  #push(buffer: Buffer, start: number, end: number): void {
    this.body.push(buffer, start, end)
    this.body.settle()
  }
}
