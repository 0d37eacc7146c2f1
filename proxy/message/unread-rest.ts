// The rest of a body whose reader has all that it needs: read for a short time, so that its connection is used again.
import type { StreamBody } from './body.ts'
import { type BodySink, IncomingBody } from './incoming-body.ts'

const REST_BYTES_MAX = 65_536
const REST_MS_MAX = 1000

/** Cancels the body if its end does not arrive within 1 s and 64 KiB. No effect on a body that has ended. */
export function readRest(body: StreamBody): void {
  if (!(body instanceof IncomingBody)) body.cancel()
  else if (body.isOpen) body.replaceSink(new Rest(body))
}

class Rest implements BodySink {
  readonly #body: IncomingBody
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  constructor(body: IncomingBody) {
    this.#body = body
    this.#timer = setTimeout(() => body.cancel(), REST_MS_MAX)
    this.#timer.unref()
  }

  bodyChunk(_buffer: Buffer, start: number, end: number): boolean {
    this.#bytes += end - start
    if (this.#bytes <= REST_BYTES_MAX) return true
    // Not within the call of its source.
    queueMicrotask(() => this.#body.cancel())
    return false
  }

  bodyEnd(): void {
    clearTimeout(this.#timer)
  }

  bodyError(): void {
    clearTimeout(this.#timer)
  }

  bodyCancelled(): void {
    clearTimeout(this.#timer)
  }
}
