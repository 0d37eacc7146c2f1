// Joins small DATA frames of one turn of the event loop: node:http2 delivers each by itself, and each would be passed
// on with a write of its own.
import { HeldBytes } from '../message/held-bytes.ts'

/** Larger frames are passed on at once. */
const SMALL_BYTES = 1024
/** Small frames of a message before any is held: most bodies have one or two, and pay nothing. */
const FREE_FRAMES = 8

export class SmallFrames {
  readonly #pass: (chunk: Buffer) => void
  #seen = 0
  #held: HeldBytes | undefined = undefined

  constructor(pass: (chunk: Buffer) => void) {
    this.#pass = pass
  }

  take(chunk: Buffer): void {
    if (chunk.length >= SMALL_BYTES || ++this.#seen <= FREE_FRAMES) {
      this.flush()
      this.#pass(chunk)
      return
    }
    if (this.#held === undefined) {
      this.#held = new HeldBytes()
      setImmediate(() => this.flush())
    }
    this.#held.append(chunk, 0, chunk.length)
  }

  /** Passes on what is held, as at the end of the message. */
  flush(): void {
    const held = this.#held
    this.#held = undefined
    for (const chunk of held?.chunks() ?? []) this.#pass(chunk)
  }
}
