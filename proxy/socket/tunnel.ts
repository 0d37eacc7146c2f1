// Raw bytes in both directions after a protocol switch (101) or CONNECT: two sockets joined with backpressure and
// half-close.
import { BodyAborted, type StreamBody } from '../message/body.ts'
import type { BodyObserver } from '../message/incoming-body.ts'
import type { Transport, TransportUser } from './transport.ts'

/**
 * The body of a 101, or of a 2xx to CONNECT: the server side joins it with the socket of the client. Has no content.
 */
export class Tunnel implements StreamBody {
  readonly length = undefined
  readonly transport: Transport
  /** Bytes that the backend sent directly after its response head. */
  readonly early: Buffer
  /** Protocol of the 101, lower case; undefined for CONNECT. */
  readonly protocol: string | undefined
  /** Sees the bytes of the backend, the early ones included. Set before the response is sent. */
  observer: BodyObserver | undefined = undefined

  constructor(transport: Transport, early: Buffer, protocol: string | undefined) {
    this.transport = transport
    this.early = early
    this.protocol = protocol
  }

  collect(): Promise<Buffer> {
    return Promise.reject(new BodyAborted('a tunnel has no body'))
  }

  /** Never buffered: it is passed on unchanged. */
  tryCollect(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    return {
      next: () => Promise.reject(new BodyAborted('a tunnel has no body')),
      return: () => {
        this.cancel()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  cancel(): void {
    this.transport.destroy()
  }
}

/** Called once with the bytes sent to each end, after both directions have ended. */
export type SpliceEnd = (bytesToFirst: number) => void

/** `observer`: of the bytes from the second one. */
export interface SpliceOptions {
  readonly done: SpliceEnd
  readonly observer?: BodyObserver | undefined
}

/** Joins two transports; if one end closes, the other is closed too. Returns the bytes so far, of both directions. */
export function splice(first: Transport, second: Transport, { done, observer }: SpliceOptions): () => number {
  const toFirst = new Side(second, first, observer)
  const toSecond = new Side(first, second, undefined)
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    done(toFirst.count)
  }
  toFirst.finish = finish
  toSecond.finish = finish
  second.user = toFirst
  first.user = toSecond
  if (first.socket.destroyed || second.socket.destroyed) {
    first.destroy()
    second.destroy()
    finish()
  } else {
    first.resume()
    second.resume()
  }
  return () => toFirst.count + toSecond.count
}

/** Reads `from` and writes to `to`. */
class Side implements TransportUser {
  count = 0
  finish: () => void = () => {}
  readonly #from: Transport
  readonly #to: Transport
  readonly #observer: BodyObserver | undefined

  constructor(from: Transport, to: Transport, observer: BodyObserver | undefined) {
    this.#from = from
    this.#to = to
    this.#observer = observer
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.count += end - start
    this.#observer?.seen(buffer, start, end)
    if (!this.#to.write(Buffer.from(buffer.subarray(start, end)))) this.#from.pause()
  }

  ended(): void {
    this.#to.end()
  }

  drained(): void {
    this.#to.resume()
  }

  closed(): void {
    // `end` sends the queued bytes first; the kernel times out a peer that never closes.
    if (this.#from.socket.readableEnded) this.#to.end()
    else this.#to.destroy()
    this.finish()
  }
}
