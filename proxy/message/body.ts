// The interface of message bodies outside the HTTP engine.
import type { HeaderList } from './headers.ts'

/** A source that arrives or is generated while it is read, and that holds resources until its end. */
export interface Cancellable<T> extends AsyncIterable<T> {
  /**
   * The reader does not need the rest: frees all resources at once. An iterator's `return()` cannot do this for a
   * generator: it waits for the pending `next()`, and never starts a generator that was not read. Allowed before the
   * first `next()`, during a pending one (which then ends the iteration), and after the end. Never throws.
   */
  cancel(): void
}

/** A body that arrives over time. Reading it twice is a bug; the engine throws. */
export interface StreamBody extends Cancellable<Buffer> {
  /** Bytes announced by content-length; undefined when chunked or close-delimited. */
  readonly length: number | undefined
  /** Fields after the body (RFC 9110 section 6.5), available after the body was read to its end. */
  readonly trailers?: HeaderList | undefined
  /** The field names that the sender announced in `trailer`. */
  readonly trailerNames?: string | undefined
  /**
   * Reads the complete body, without chunked framing.
   * @throws {BodyTooLarge} when more than `bytesMax` bytes arrive; the rest is still unread.
   * @throws {BodyAborted} if the peer closes the connection or sends invalid framing.
   */
  collect(bytesMax: number): Promise<Buffer>
  /**
   * Like `collect`, but returns undefined for a body over the limit, which can then be read from its start. With
   * `keepsPrefix` the first `bytesMax` bytes are available to `peek`; without it, a body that announces more is not
   * read at all.
   * @throws {BodyAborted}
   */
  tryCollect(bytesMax: number, options?: { readonly keepsPrefix?: boolean }): Promise<Buffer | undefined>
  /** A copy of the unread bytes that have arrived, up to `bytesMax`. */
  peek?(bytesMax: number): Buffer
}

/** A body to send. It is cancelled if the peer closes before its end. */
export type OutgoingBody = Buffer | string | StreamBody | Cancellable<Buffer> | undefined

export class BodyTooLarge extends Error {
  readonly bytesMax: number
  constructor(bytesMax: number) {
    super(`body is larger than ${bytesMax} bytes`)
    this.bytesMax = bytesMax
  }
}

export class BodyAborted extends Error {}
