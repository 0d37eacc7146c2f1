// A body produced chunk by chunk, by a processor or a part of the proxy: bytes that wait for a slow reader are
// counted, so that the producer can pause.
import type { HeaderList } from '../../../message/headers.ts'
import { type BodySource, IncomingBody } from '../../../message/incoming-body.ts'

export interface ProcessedBodyOptions {
  readonly length: number | undefined
  readonly mayHaveTrailers: boolean
  /** There is room again, or the reader has stopped. */
  readonly changed: () => void
}

export class ProcessedBody implements BodySource {
  readonly body: IncomingBody
  heldBytes = 0
  readonly #changed: () => void
  readonly #held: Buffer[] = []
  #isFull = false
  #isEnding = false
  #isOver = false
  #isUnwanted = false
  #trailers: HeaderList | undefined = undefined
  #waiting: (() => void)[] = []

  constructor({ length, mayHaveTrailers, changed }: ProcessedBodyOptions) {
    this.body = new IncomingBody(this, length)
    this.body.mayHaveTrailers = mayHaveTrailers
    this.#changed = changed
  }

  /** The reader reads nothing at the moment. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** It ended, failed, or its reader stopped. */
  get isOver(): boolean {
    return this.#isOver || this.#isEnding
  }

  /** The reader stopped. */
  get isUnwanted(): boolean {
    return this.#isUnwanted
  }

  /** Resolves to false if nothing can be added any more. */
  async room(): Promise<boolean> {
    while (this.#isFull && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    return !this.isOver
  }

  push(bytes: Buffer): void {
    if (this.isOver || bytes.length === 0) return
    if (this.#isFull || this.#held.length > 0) {
      this.#held.push(bytes)
      this.heldBytes += bytes.length
    } else this.#pass(bytes)
  }

  /** Nothing follows the pushed bytes. */
  end(trailers: HeaderList | undefined): void {
    if (this.isOver) return
    this.#isEnding = true
    this.#trailers = trailers
    this.#finish()
    this.#wake()
  }

  /** The reader must not take it for complete. */
  fail(error: Error): void {
    if (this.#isOver) return
    this.#close()
    this.body.fail(error)
    this.#wake()
  }

  // --- BodySource ---

  pauseBody(): void {
    this.#isFull = true
  }

  resumeBody(): void {
    this.#isFull = false
    for (let next = this.#held.shift(); next !== undefined; next = this.#held.shift()) {
      this.heldBytes -= next.length
      this.#pass(next)
      // Forwarding may have filled the reader again.
      if (this.isFull) break
    }
    this.#finish()
    this.#wake()
  }

  cancelBody(): void {
    this.#isUnwanted = true
    this.#close()
    this.#wake()
  }

  #pass(bytes: Buffer): void {
    this.body.push(bytes, 0, bytes.length)
    this.body.settle()
  }

  #finish(): void {
    if (!this.#isEnding || this.#isOver || this.#held.length > 0) return
    this.#isOver = true
    this.body.trailers = this.#trailers
    this.body.end()
  }

  #close(): void {
    this.#isOver = true
    this.#held.length = 0
    this.heldBytes = 0
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
    this.#changed()
  }
}
