// A CONNECT stream of an HTTP/2 client joined with a raw connection (RFC 9113 section 8.5): bytes both ways with
// backpressure; each direction ends by itself. Does not depend on headers.
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { TransportUser } from '../socket/transport.ts'
import type { Tunnel } from '../socket/tunnel.ts'
import { TunnelWatch } from '../socket/tunnel-watch.ts'
import { resetStream } from './body-sender.ts'
import type { EndOfStream } from './end-of-stream.ts'

export class StreamTunnel implements TransportUser {
  /** Bytes handed to the client's stream, and taken from it. */
  sentBytes = 0
  receivedBytes = 0
  readonly #stream: ServerHttp2Stream
  readonly #tunnel: Tunnel
  readonly #end: EndOfStream
  #hasEnded = false
  readonly #watch: TunnelWatch

  /** The response head is sent, the stream waits for trailers, and no code has read it. */
  constructor(stream: ServerHttp2Stream, tunnel: Tunnel, end: EndOfStream) {
    this.#stream = stream
    this.#tunnel = tunnel
    this.#end = end
    const { transport, early } = tunnel
    this.#watch = new TunnelWatch({ peer: transport, movedBytes: () => this.sentBytes + this.receivedBytes })
    transport.user = this
    stream.on('data', (chunk: Buffer) => {
      this.receivedBytes += chunk.length
      if (!transport.write(chunk)) stream.pause()
    })
    stream.once('end', () => {
      if (end.hasEnded) transport.end()
    })
    stream.on('drain', () => transport.resume())
    // The creator made the stream wait for trailers: otherwise node would end it before it resets it.
    stream.once('wantTrailers', () => {
      if (this.#hasEnded && !stream.closed) stream.sendTrailers({})
    })
    stream.once('close', () => this.#streamClosed())
    if (early.length > 0) this.bytes(early, 0, early.length)
    if (transport.socket.destroyed) this.closed()
    else transport.resume()
    // A stream whose end arrived with its head has nothing to read and ends at once.
    stream.resume()
  }

  /** A backend that does not read the bytes for it, or an idle tunnel. */
  sweep(nowMs: number): void {
    if (this.#watch.isOverdue(nowMs)) this.#tunnel.transport.destroy()
  }

  // --- TransportUser ---

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#stream.closed || this.#stream.writableEnded) return
    this.sentBytes += end - start
    this.#tunnel.observer?.seen(buffer, start, end)
    if (!this.#stream.write(Buffer.from(buffer.subarray(start, end)))) this.#tunnel.transport.pause()
  }

  ended(): void {
    if (this.#stream.closed) return
    this.#hasEnded = true
    this.#stream.end()
  }

  drained(): void {
    this.#stream.resume()
  }

  closed(): void {
    // What was cut must not look whole (RFC 9113 section 8.5: a connection error is CONNECT_ERROR).
    if (this.#tunnel.transport.socket.readableEnded) this.ended()
    else resetStream(this.#stream, constants.NGHTTP2_CONNECT_ERROR)
  }

  #streamClosed(): void {
    const { transport } = this.#tunnel
    if (this.#end.hasEnded && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR) transport.end()
    else transport.destroy()
  }
}
