// Sends one message at a time on a transport: head and body coalesced, chunked when needed, with backpressure. Both
// sides use it.
import type { Cancellable, OutgoingBody } from '../message/body.ts'
import { BodyPump, type PumpTarget } from './body-pump.ts'
import type { OutgoingFraming } from '../message/head-text.ts'
import { type BodySink, IncomingBody } from '../message/incoming-body.ts'
import { RelayedStream } from '../message/relayed-stream.ts'
import { hasFields, type TrailerSource, trailerText } from '../message/trailer-fields.ts'
import type { Transport } from '../socket/transport.ts'

export interface BodyWriterOwner {
  /** All was handed to the socket (true), or the body broke and the connection has to go (false). */
  bodyWritten(isComplete: boolean): void
}

/**
 * Head and body of at most this size leave in one string write: libuv copies up to 16 KiB to the stack and writes at
 * once, without an allocation.
 */
export const COALESCE_BYTES_MAX = 12_288
/** Larger buffers are written in slices, so that progress of a slow reader can be seen. */
const SLICE_BYTES = 65_536

export class BodyWriter implements BodySink, PumpTarget {
  readonly #transport: Transport
  readonly #owner: BodyWriterOwner
  /** Body bytes of the present message handed to the socket. */
  count = 0
  #isActive = false
  #isChunked = false
  #ready: string | Buffer = ''
  #trailers: TrailerSource | undefined = undefined
  #stream: Cancellable<Buffer> | undefined = undefined
  #length: number | undefined = undefined
  /** The head, until it goes out with the first bytes of the body; of a pump also what it offered in this turn. */
  #prefix = ''
  #body: IncomingBody | undefined = undefined
  #pump: BodyPump | undefined = undefined
  #rest: Buffer | undefined = undefined

  readonly #flush = (): void => {
    this.#flushPrefix()
  }

  constructor(transport: Transport, owner: BodyWriterOwner) {
    this.#transport = transport
    this.#owner = owner
  }

  /** True from `send` until `bodyWritten` or `abort`. */
  get isActive(): boolean {
    return this.#isActive
  }

  /**
   * Looks at the body to come and says how its end can be announced. `send` must follow, or `abort`. `trailers`: those
   * that the peer may get.
   */
  prepare(body: OutgoingBody, trailers?: TrailerSource): OutgoingFraming {
    this.#trailers = trailers
    this.#ready = ''
    this.#stream = undefined
    if (body === undefined) return 0
    if (typeof body === 'string' || Buffer.isBuffer(body)) {
      this.#ready = typeof body === 'string' ? latin1OrBytes(body) : body
      return this.#readyFraming()
    }
    const stream = body instanceof RelayedStream ? body.body : body
    if (stream instanceof IncomingBody) {
      const whole = stream.takeWhole(COALESCE_BYTES_MAX)
      if (whole !== undefined) {
        this.#ready = whole
        return this.#readyFraming()
      }
    }
    this.#stream = stream
    this.#length = 'length' in stream && typeof stream.length === 'number' ? stream.length : undefined
    return this.#length ?? 'Chunked'
  }

  send(head: string, isChunked: boolean): void {
    this.#isActive = true
    this.#isChunked = isChunked
    this.count = 0
    const stream = this.#stream
    if (stream === undefined) this.#sendReady(head, this.#ready)
    else if (stream instanceof IncomingBody) {
      this.#prefix = head
      this.#body = stream
      stream.pipeTo(this)
      this.#flushPrefix()
    } else {
      this.#gather(head)
      this.#pump = new BodyPump(this, stream)
      this.#pump.start(this.#length)
    }
  }

  /** The peer is gone, or its answer makes the rest of the body useless. */
  abort(): void {
    this.#isActive = false
    this.#prefix = ''
    this.#rest = undefined
    this.#trailers = undefined
    this.#stream = undefined
    this.#body?.cancel()
    this.#body = undefined
    this.#pump?.stop()
    this.#pump = undefined
  }

  /** The transport has room again. */
  drained(): void {
    if (this.#rest !== undefined) this.#writeRest()
    else if (this.#pump !== undefined) this.#pump.resume()
    else this.#body?.resume()
  }

  /** Small chunks wait for those that follow without input or output in between, and for the end of the body. */
  pumpChunk(chunk: Buffer): boolean {
    const size = chunk.length
    if (this.#prefix.length + size > COALESCE_BYTES_MAX) return this.#writeData(chunk, 0, size)
    this.count += size
    const text = chunk.toString('latin1')
    this.#gather(this.#isChunked ? `${size.toString(16)}\r\n${text}\r\n` : text)
    return !this.#transport.needsDrain
  }

  // --- BodySink: another connection's body, socket to socket ---

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    return this.#writeData(buffer, start, end)
  }

  bodyEnd(): void {
    this.#body = undefined
    this.#pump = undefined
    this.#finish()
  }

  /** A body cut short must not look whole: no last chunk, the connection goes down (RFC 9112 section 8). */
  bodyError(): void {
    if (this.#pump !== undefined) this.#flushPrefix()
    this.#body = undefined
    this.#fail()
  }

  // --- writing ---

  /** Trailers need a chunked body. */
  #readyFraming(): OutgoingFraming {
    return hasFields(this.#trailers?.trailers) ? 'Chunked' : this.#ready.length
  }

  #sendReady(head: string, ready: string | Buffer): void {
    this.count = ready.length
    if (this.#isChunked) this.#sendReadyChunk(head, ready)
    else if (ready.length <= COALESCE_BYTES_MAX) this.#transport.writeText(head + latin1Of(ready))
    else {
      const isShort = typeof ready === 'string' || ready.length <= SLICE_BYTES
      if (!isShort) this.#transport.writeText(head)
      this.#rest = isShort ? withHead(head, ready) : ready
      this.#writeRest()
      return
    }
    this.#complete()
  }

  /** One chunk, or none, and the trailers. */
  #sendReadyChunk(head: string, ready: string | Buffer): void {
    if (ready.length > 0) {
      this.#transport.writeText(`${head}${ready.length.toString(16)}\r\n`)
      if (typeof ready === 'string') this.#transport.writeText(ready)
      else this.#transport.write(ready)
    }
    this.#transport.writeText(ready.length > 0 ? `\r\n${this.#lastChunk()}` : head + this.#lastChunk())
  }

  #lastChunk(): string {
    return this.#trailers === undefined ? '0\r\n\r\n' : `0\r\n${trailerText(this.#trailers.trailers)}\r\n`
  }

  #writeData(buffer: Buffer, start: number, end: number): boolean {
    const size = end - start
    this.count += size
    const prefix = this.#isChunked ? `${this.#prefix}${size.toString(16)}\r\n` : this.#prefix
    this.#prefix = ''
    const suffix = this.#isChunked ? '\r\n' : ''
    if (size <= COALESCE_BYTES_MAX) {
      return this.#transport.writeText(prefix + buffer.toString('latin1', start, end) + suffix)
    }
    const bytes = Buffer.allocUnsafe(prefix.length + size + suffix.length)
    bytes.write(prefix, 0, 'latin1')
    buffer.copy(bytes, prefix.length, start, end)
    bytes.write(suffix, prefix.length + size, 'latin1')
    return this.#transport.write(bytes)
  }

  #gather(text: string): void {
    if (this.#prefix === '') process.nextTick(this.#flush)
    this.#prefix += text
  }

  #flushPrefix(): void {
    if (this.#prefix === '') return
    const prefix = this.#prefix
    this.#prefix = ''
    this.#transport.writeText(prefix)
  }

  #writeRest(): void {
    while (this.#rest !== undefined) {
      const slice = this.#rest.subarray(0, SLICE_BYTES)
      this.#rest = slice.length === this.#rest.length ? undefined : this.#rest.subarray(SLICE_BYTES)
      if (!this.#transport.write(slice) && this.#rest !== undefined) return
    }
    this.#complete()
  }

  #finish(): void {
    if (this.#isChunked) {
      const text = this.#prefix + this.#lastChunk()
      this.#prefix = ''
      this.#transport.writeText(text)
    } else this.#flushPrefix()
    this.#complete()
  }

  #complete(): void {
    this.#isActive = false
    this.#ready = ''
    this.#trailers = undefined
    this.#stream = undefined
    this.#owner.bodyWritten(true)
  }

  #fail(): void {
    this.abort()
    this.#owner.bodyWritten(false)
  }
}

function latin1Of(ready: string | Buffer): string {
  return typeof ready === 'string' ? ready : ready.toString('latin1')
}

/** For one write, which costs more than a copy. `body`: a string is latin1. */
function withHead(head: string, body: string | Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, 0, 'latin1')
  if (typeof body === 'string') bytes.write(body, head.length, 'latin1')
  else body.copy(bytes, head.length)
  return bytes
}

/** Cancels the body at its producer. */
export function discardBody(body: OutgoingBody): void {
  if (typeof body === 'object' && !Buffer.isBuffer(body)) body.cancel()
}

/** Text that is ASCII travels as it is; anything else becomes UTF-8. */
function latin1OrBytes(text: string): string | Buffer {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text)
}
