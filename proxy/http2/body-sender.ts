// Sends one body on one HTTP/2 stream, with its backpressure. Both sides use it. Knows neither headers nor sessions.
import { constants, type Http2Stream } from 'node:http2'
import type { OutgoingBody } from '../message/body.ts'
import { BodyPump, type PumpTarget } from '../http/body-pump.ts'
import { type BodySink, IncomingBody } from '../message/incoming-body.ts'

export interface BodySenderOwner {
  /** All was handed to the stream (true), or the source broke and the stream must not look whole (false). */
  bodySent(isComplete: boolean): void
}

/** Larger buffers are written in slices, so that progress of a slow reader can be seen. */
const SLICE_BYTES = 65_536
/** Kept until the peer has answered, to be sent again on another stream: requests and unary messages are small. */
const REPLAY_BYTES_MAX = 65_536

export class BodySender implements BodySink, PumpTarget {
  readonly #owner: BodySenderOwner
  /** Bytes handed to streams. */
  count = 0
  #stream: Http2Stream
  #isActive = false
  #rest: Buffer | undefined = undefined
  #source: IncomingBody | undefined = undefined
  #pump: BodyPump | undefined = undefined
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
      this.#pump = new BodyPump(this, body)
      this.#pump.start(length)
    }
  }

  /** There is no stream for now: what comes is kept, and the source paused. Only while `canRepeat`. */
  detach(): void {
    this.#isDetached = true
    this.#rest = undefined
    this.#source?.pause()
  }

  /** Continues with another stream: sends the previous bytes again. Only while `canRepeat`. */
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
    this.#pump?.stop()
    this.#pump = undefined
  }

  /** The stream has room again. */
  drained(): void {
    if (this.#rest !== undefined) this.#writeRest()
    else if (this.#pump !== undefined) this.#pump.resume()
    else this.#source?.resume()
  }

  pumpChunk(chunk: Buffer): boolean {
    return this.#write(chunk)
  }

  // --- BodySink ---

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    return this.#write(Buffer.from(buffer.subarray(start, end)))
  }

  bodyEnd(): void {
    this.#source = undefined
    this.#pump = undefined
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

/** Whether a body can be sent: a body that was read already cannot. */
export function isSendable(body: OutgoingBody): boolean {
  return !(body instanceof IncomingBody) || body.isUntouched
}

/** It arrives over time, and may break. */
export function isStreamed(body: OutgoingBody): boolean {
  return typeof body === 'object' && !Buffer.isBuffer(body)
}
