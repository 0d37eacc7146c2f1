// A connection in memory: two ends, each the peer of the other, for streams that are served like accepted connections.
// The buffers of the two ends limit its memory.
import type net from 'node:net'
import { Duplex } from 'node:stream'

class PipeEnd extends Duplex {
  bytesRead = 0
  bytesWritten = 0
  #peer: PipeEnd | undefined = undefined
  /** The pending write of the peer, until this end has read its bytes. */
  #taken: (() => void) | undefined = undefined

  constructor() {
    super({ allowHalfOpen: true })
    // `close` reports errors; an `error` event without a listener would end the process.
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
    // Like a socket whose peer has closed: an orderly end if the peer sent one, else an error.
    if (this.writableFinished) peer.push(null)
    else peer.destroy()
  }

  // --- other members of sockets; they have no effect here ---

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

/** Both ends are used as sockets: they have the members that the proxy uses, and no addresses. */
export function pipe(): { readonly near: net.Socket; readonly far: net.Socket } {
  const near = new PipeEnd()
  const far = new PipeEnd()
  PipeEnd.join(near, far)
  // See above: the other members of net.Socket concern the kernel.
  return { near: near as unknown as net.Socket, far: far as unknown as net.Socket }
}
