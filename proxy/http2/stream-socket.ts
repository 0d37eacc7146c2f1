// A stream to a backend as one end of a tunnel (RFC 8441): bytes both ways with backpressure, each direction ending by
// itself. Has of a socket what tunnels use, and no addresses.
import { constants, type Http2Stream } from 'node:http2'
import type net from 'node:net'
import { Duplex } from 'node:stream'
import { resetStream } from './body-sender.ts'
import type { EndOfStream } from './end-of-stream.ts'

/** Read ahead of a slow client, besides the window of the stream. */
const HIGH_WATER_BYTES = 65_536

/**
 * `received`: bytes came. The stream is paused and no other code reads it. It was made to wait for trailers: otherwise
 * node would end it before a reset, and what was cut would look whole.
 */
export function streamSocket(stream: Http2Stream, end: EndOfStream, received: () => void): net.Socket {
  // See above: a net.Socket has much more, all of it about the kernel.
  return new StreamSocket(stream, end, received) as unknown as net.Socket
}

class StreamSocket extends Duplex {
  readonly #stream: Http2Stream
  #writtenBytes = 0
  #hasEnded = false

  constructor(stream: Http2Stream, end: EndOfStream, received: () => void) {
    super({ allowHalfOpen: true, highWaterMark: HIGH_WATER_BYTES })
    this.#stream = stream
    stream.on('data', (chunk: Buffer) => {
      received()
      if (!this.push(chunk)) stream.pause()
    })
    stream.once('end', () => {
      this.#hasEnded = end.hasEnded
      if (end.hasEnded) this.push(null)
      else this.destroy()
    })
    stream.once('wantTrailers', () => {
      if (this.writableEnded && !stream.closed) stream.sendTrailers({})
    })
    stream.once('close', () => this.#closed())
  }

  /** As a socket counts: what waits is part of it. */
  get bytesWritten(): number {
    return this.#writtenBytes + this.writableLength
  }

  // --- other members of sockets; they have no effect here ---

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  resetAndDestroy(): this {
    return this.destroy()
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#stream.write(chunk, (error) => {
      this.#writtenBytes += chunk.length
      done(error)
    })
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#stream.end(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isOrderly = this.#hasEnded && this.writableFinished
    resetStream(this.#stream, isOrderly ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL)
    // Lets a stream without a reader reach its end.
    this.#stream.resume()
    done(error)
  }

  /** What has come may still be read; nothing can be written any more. */
  #closed(): void {
    if (this.#hasEnded && !this.readableEnded && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR) {
      this.once('end', () => this.destroy())
    } else this.destroy()
  }
}
