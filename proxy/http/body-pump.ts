// Draws a body from an iterator, as filters make them, into a connection or stream that may be full for a while.
import type { Cancellable } from '../message/body.ts'

/** Where a body goes. */
export interface PumpTarget {
  /** The chunk is given away. False: full, until `resume`. */
  pumpChunk(chunk: Buffer): boolean
  bodyEnd(): void
  /** The source broke, or did not keep to its length. */
  bodyError(): void
}

export class BodyPump {
  readonly #target: PumpTarget
  readonly #source: Cancellable<Buffer>
  readonly #iterator: AsyncIterator<Buffer>
  #isStopped = false
  #wake: (() => void) | undefined = undefined

  constructor(target: PumpTarget, source: Cancellable<Buffer>) {
    this.#target = target
    this.#source = source
    this.#iterator = source[Symbol.asyncIterator]()
  }

  /**
   * Begins. `length`: bytes announced to the peer; a source that offers fewer or more is broken, for the peer must not
   * take the message for whole.
   */
  start(length: number | undefined): void {
    void this.#run(length)
  }

  /** The target has room again. */
  resume(): void {
    this.#wake?.()
  }

  /** The reader does not need the rest: cancels the source, and the target gets no more calls. */
  stop(): void {
    this.#isStopped = true
    this.#source.cancel()
    this.#wake?.()
  }

  async #run(length: number | undefined): Promise<void> {
    let isWhole = false
    try {
      const bytes = await this.#draw(length ?? Number.MAX_SAFE_INTEGER)
      isWhole = length === undefined || bytes === length
    } catch {
      // The filter that made the body has reported its failure; the peer sees a body cut short.
    }
    if (this.#isStopped) return
    if (isWhole) this.#target.bodyEnd()
    else this.#target.bodyError()
  }

  /** Until the source ends, offers more than `bytesMax`, or is stopped; returns the bytes it offered. */
  async #draw(bytesMax: number): Promise<number> {
    let bytes = 0
    while (!this.#isStopped) {
      const { done, value } = await this.#iterator.next()
      if (done === true || this.#isStopped) return bytes
      bytes += value.length
      if (bytes > bytesMax) return bytes
      if (value.length > 0 && !this.#target.pumpChunk(value)) await this.#room()
    }
    return bytes
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }
}
