// A connection in memory: two ends, each the other's peer, for streams that are served as if they had been accepted.
// Bounded by the buffers of the two ends.
import type net from 'node:net'
import { Duplex } from 'node:stream'

class PipeEnd extends Duplex {
  bytesRead = 0
  bytesWritten = 0
  #peer: PipeEnd | undefined = undefined
  /** The peer's write that waits until what it brought is read. */
  #taken: (() => void) | undefined = undefined

  constructor() {
    super({ allowHalfOpen: true })
    // Breaks are seen on `close`; without a listener they would end the process.
    this.on('error', () => {})
  }

  static join(first: PipeEnd, second: PipeEnd): void {
    first.#peer = second
    second.#peer = first
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const peer = this.#peer
    if (peer === undefined || peer.destroyed) {
      done(new Error('the other end is closed'))
      return
    }
    this.bytesWritten += chunk.length
    peer.bytesRead += chunk.length
    if (peer.push(chunk)) done()
    else peer.#taken = done
  }

  override _final(done: () => void): void {
    this.#peer?.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const peer = this.#peer
    this.#peer = undefined
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
    done(error)
    if (peer === undefined || peer.destroyed) return
    // As a socket whose peer is gone: an orderly end if one was sent, else a break.
    if (this.writableFinished) peer.push(null)
    else peer.destroy()
  }

  // --- what sockets have besides; nothing of it means anything here ---

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** Both ends are used as sockets: they have what the proxy uses of one, and no addresses. */
export function pipe(): { readonly near: net.Socket; readonly far: net.Socket } {
  const near = new PipeEnd()
  const far = new PipeEnd()
  PipeEnd.join(near, far)
  // See above: a net.Socket has much more, all of it about the kernel.
  return { near: near as unknown as net.Socket, far: far as unknown as net.Socket }
}
