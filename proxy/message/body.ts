// What a message body is to everything outside the HTTP engine.
import type { HeaderList } from './headers.ts'

/** Something that arrives or is made while it is read, and that holds resources until it is over. */
export interface Cancellable<T> extends AsyncIterable<T> {
  /**
   * Nobody wants the rest: frees at once all that it is made from. An iterator's `return()` cannot do that for a
   * generator: it waits for the `next()` under way, and never begins one that was not read. Allowed before the first
   * `next()`, while one is pending (which then ends the iteration), and after the end. Never throws.
   */
  cancel(): void
}

/** A body that arrives over time. Reading it twice is a bug; the engine throws. */
export interface StreamBody extends Cancellable<Buffer> {
  /** Bytes announced by content-length; undefined when chunked or close-delimited. */
  readonly length: number | undefined
  /** Fields behind the body (RFC 9110 section 6.5), known once it was read to its end. */
  readonly trailers?: HeaderList | undefined
  /** What its sender announced in `trailer`. */
  readonly trailerNames?: string | undefined
  /**
   * Reads it whole, decoded from chunked framing.
   * @throws {BodyTooLarge} as soon as more than `bytesMax` bytes came; the rest is still unread.
   * @throws {BodyAborted} when the peer goes away or breaks the framing.
   */
  collect(bytesMax: number): Promise<Buffer>
  /**
   * As `collect`, but a body over the limit gives undefined and can then be read from its beginning, as if nobody had
   * begun. `keepsPrefix`: then the first `bytesMax` bytes are here, for `peek`; without it a body that announces more
   * is not waited for.
   * @throws {BodyAborted}
   */
  tryCollect(bytesMax: number, options?: { readonly keepsPrefix?: boolean }): Promise<Buffer | undefined>
  /** A copy of what is here and unread, up to `bytesMax`. */
  peek?(bytesMax: number): Buffer
}

/** A body to send. One that is not finished when the peer leaves is cancelled. */
export type OutgoingBody = Buffer | string | StreamBody | Cancellable<Buffer> | undefined

export class BodyTooLarge extends Error {
  readonly bytesMax: number
  constructor(bytesMax: number) {
    super(`body is larger than ${bytesMax} bytes`)
    this.bytesMax = bytesMax
  }
}

export class BodyAborted extends Error {}
