// Sends one body on one HTTP/2 stream, with its backpressure. Both sides use it. Knows neither headers nor sessions.
import { constants, type Http2Stream } from 'node:http2'
import type { OutgoingBody } from '../http/body.ts'
import { type BodySink, IncomingBody } from '../http/incoming-body.ts'

export interface BodySenderOwner {
  /** All was handed to the stream (true), or the source broke and the stream must not look whole (false). */
  bodySent(isComplete: boolean): void
}

/** Larger buffers are written in slices, so that progress of a slow reader can be seen. */
const SLICE_BYTES = 65_536
/** Kept until the peer has answered, to be sent again on another stream: requests and unary messages are small. */
const REPLAY_BYTES_MAX = 65_536

export class BodySender implements BodySink {
  readonly #owner: BodySenderOwner
  /** Bytes handed to streams. */
  count = 0
  #stream: Http2Stream
  #isActive = false
  #rest: Buffer | undefined = undefined
  #source: IncomingBody | undefined = undefined
  #iterator: AsyncIterator<Buffer> | undefined = undefined
  #wake: (() => void) | undefined = undefined
  #replay: Buffer[] | undefined = undefined
  #replayBytes = 0
  #isEnded = false
  #isDetached = false

  constructor(stream: Http2Stream, owner: BodySenderOwner, isRepeatable: boolean) {
    this.#stream = stream
    this.#owner = owner
    if (isRepeatable) this.#replay = []
  }

  /** Some of the body has yet to come from its source. */
  get isActive(): boolean {
    return this.#isActive
  }

  /** The source has come to its end. */
  get isComplete(): boolean {
    return this.#isEnded
  }

  /** All that was sent is still here. */
  get canRepeat(): boolean {
    return this.#replay !== undefined
  }

  send(body: OutgoingBody): void {
    this.#isActive = true
    if (body === undefined) this.#finish()
    else if (typeof body === 'string' || Buffer.isBuffer(body)) {
      this.#rest = typeof body === 'string' ? Buffer.from(body) : body
      this.#keep(this.#rest)
      this.#writeRest()
    } else if (body instanceof IncomingBody) {
      this.#source = body
      body.pipeTo(this)
    } else {
      const length = 'length' in body && typeof body.length === 'number' ? body.length : undefined
      void this.#pump(body[Symbol.asyncIterator](), length)
    }
  }

  /** There is no stream for now: what comes is kept, and the source paused. Only while `canRepeat`. */
  detach(): void {
    this.#isDetached = true
    this.#rest = undefined
    this.#source?.pause()
  }

  /** Goes on with another stream: what was sent is sent again. Only while `canRepeat`. */
  moveTo(stream: Http2Stream): void {
    this.#stream = stream
    this.#isDetached = false
    for (const chunk of this.#replay ?? []) stream.write(chunk)
    if (this.#isEnded) stream.end()
    else this.drained()
  }

  /** The peer has answered: nothing will be sent again. */
  settle(): void {
    this.#replay = undefined
  }

  /** The peer is gone, or its answer makes the rest of the body useless. */
  abort(): void {
    this.#isActive = false
    this.#replay = undefined
    this.#rest = undefined
    this.#source?.cancel()
    this.#source = undefined
    // A generator that fails while it is being stopped has nobody left to tell.
    this.#iterator?.return?.().then(undefined, () => {})
    this.#iterator = undefined
    this.#wake?.()
  }

  /** The stream has room again. */
  drained(): void {
    if (this.#rest !== undefined) this.#writeRest()
    else if (this.#wake !== undefined) this.#wake()
    else this.#source?.resume()
  }

  // --- BodySink ---

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    return this.#write(Buffer.from(buffer.subarray(start, end)))
  }

  bodyEnd(): void {
    this.#source = undefined
    this.#finish()
  }

  bodyError(): void {
    this.#source = undefined
    this.#fail()
  }

  // --- writing ---

  #write(chunk: Buffer): boolean {
    this.#keep(chunk)
    this.count += chunk.length
    return this.#isDetached ? false : this.#stream.write(chunk)
  }

  #keep(chunk: Buffer): void {
    if (this.#replay === undefined) return
    this.#replayBytes += chunk.length
    if (this.#replayBytes > REPLAY_BYTES_MAX && !this.#isDetached) this.#replay = undefined
    else this.#replay.push(chunk)
  }

  /** The last slice goes with the end of the stream: one frame for a small body. */
  #writeRest(): void {
    while (this.#rest !== undefined) {
      const slice = this.#rest.subarray(0, SLICE_BYTES)
      this.count += slice.length
      if (slice.length === this.#rest.length) {
        this.#rest = undefined
        this.#finish(slice)
        return
      }
      this.#rest = this.#rest.subarray(SLICE_BYTES)
      if (!this.#stream.write(slice)) return
    }
  }

  #finish(last?: Buffer): void {
    this.#isActive = false
    this.#isEnded = true
    if (this.#isDetached) return
    if (last === undefined) this.#stream.end()
    else this.#stream.end(last)
    this.#owner.bodySent(true)
  }

  #fail(): void {
    this.abort()
    this.#owner.bodySent(false)
  }

  async #pump(iterator: AsyncIterator<Buffer>, length: number | undefined): Promise<void> {
    this.#iterator = iterator
    try {
      const bytes = await this.#drawFrom(iterator, length ?? Number.MAX_SAFE_INTEGER)
      if (this.#iterator !== iterator) return
      // Fewer or more bytes than announced: the peer must not take the message for whole.
      if (length !== undefined && bytes !== length) this.#fail()
      else {
        this.#iterator = undefined
        this.#finish()
      }
    } catch {
      if (this.#iterator === iterator) this.#fail()
    }
  }

  /**
   * Writes until the source ends, offers more than `bytesMax`, or is no longer wanted; returns the bytes it offered.
   */
  async #drawFrom(iterator: AsyncIterator<Buffer>, bytesMax: number): Promise<number> {
    let bytes = 0
    while (this.#iterator === iterator) {
      const result = await iterator.next()
      if (result.done === true || this.#iterator !== iterator) return bytes
      bytes += result.value.length
      if (bytes > bytesMax) return bytes
      if (result.value.length > 0 && !this.#write(result.value)) await this.#room()
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

/** Bytes announced for a body; undefined when they are not known before its end. */
export function lengthOf(body: OutgoingBody): number | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return Buffer.byteLength(body)
  return 'length' in body && typeof body.length === 'number' ? body.length : undefined
}

/** Ends a stream at once; harmless on one that has ended. */
export function resetStream(stream: Http2Stream, code: number = constants.NGHTTP2_CANCEL): void {
  if (!stream.destroyed) stream.close(code)
}

/** Whether a body can go out at all: one that somebody read before cannot. */
export function isSendable(body: OutgoingBody): boolean {
  return !(body instanceof IncomingBody) || body.isUntouched
}

/** It arrives over time, and may break. */
export function isStreamed(body: OutgoingBody): boolean {
  return typeof body === 'object' && !Buffer.isBuffer(body)
}
