// Incremental decoder of the chunked transfer coding (RFC 9112 section 7.1). Extensions are checked and dropped.
// Trailers are kept, but for those that must not stand there.
import { fieldName, FieldKind } from '../message/field-name.ts'
import { hasBadControl, trimmed } from './head-fields.ts'
import { HeaderList } from '../message/headers.ts'
import { mayTrail } from '../message/trailer-fields.ts'

/** Where decoded bytes go; the range is valid only during the call, and what lies in front of it is overwritten. */
export interface ChunkTarget {
  push(buffer: Buffer, start: number, end: number): void
}

const State = {
  SizeFirst: 0,
  Size: 1,
  Extension: 2,
  SizeLf: 3,
  Data: 4,
  DataCr: 5,
  DataLf: 6,
  Trailer: 7,
  TrailerLf: 8,
  Done: 9,
  Bad: 10,
} as const
type State = (typeof State)[keyof typeof State]

/** A chunk of up to 4 GiB; also stops sizes padded with zeros. */
const SIZE_DIGITS_MAX = 8
/**
 * All chunk extensions of one message together: they have no use, and they cost work without carrying
 * data.
 */
const EXTENSION_BYTES_MAX = 4096
const TRAILER_BYTES_MAX = 8192
const TRAILERS_MAX = 32
/** For logs. */
export const BAD_CHUNKS = 'invalid chunked encoding'

/**
 * A connection that brought more in one read waits for its next turn. A turn may bring 2 MiB of reads, which is 350,000
 * chunks of one byte, or 70 ms.
 */
export const CHUNKS_PER_TURN = 1024
/** Larger chunks are passed on from where they lie. */
const JOINED_BYTES_MAX = 1024
/** Below it a loop is faster than a call (20 ns against 60 for one byte). */
const LOOPED_BYTES_MAX = 16

const CR = 13
const LF = 10
const SEMICOLON = 59

export class ChunkedDecoder {
  #state: State = State.SizeFirst
  #size = 0
  #digits = 0
  #extensionBytes = 0
  #trailerBytes = 0
  #trailers = 0
  #line = ''
  #count = 0
  /** Of a message that is done. */
  trailers: HeaderList | undefined = undefined

  get isDone(): boolean {
    return this.#state === State.Done
  }

  get isBad(): boolean {
    return this.#state === State.Bad
  }

  /** Chunks that have begun since this was asked last: what a peer that makes them small costs. */
  takeCount(): number {
    const count = this.#count
    this.#count = 0
    return count
  }

  /**
   * Consumes until the end of the range, the end of the message or an error; returns the offset reached. Small chunks
   * of one range are joined, within the range: a target is called for bytes, not for chunks.
   */
  decode(buffer: Buffer, range: { readonly start: number; readonly end: number }, target: ChunkTarget): number {
    let at = range.start
    let from = at
    let to = at
    while (at < range.end && this.#state < State.Done) {
      if (this.#state === State.Data) {
        const stop = Math.min(range.end, at + this.#size)
        if (to > from && stop - at <= JOINED_BYTES_MAX) moveDown(buffer, { to, start: at, stop })
        else {
          if (to > from) target.push(buffer, from, to)
          from = at
          to = at
        }
        to += stop - at
        this.#size -= stop - at
        at = stop
        if (this.#size === 0) this.#state = State.DataCr
      } else if (this.#state === State.Trailer) {
        at = this.#trailer(buffer, at, range.end)
      } else {
        this.#state = this.#framing(buffer[at] ?? 0)
        at++
      }
    }
    if (to > from) target.push(buffer, from, to)
    return at
  }

  #framing(byte: number): State {
    const state = this.#state
    if (state === State.SizeFirst || state === State.Size) return this.#sizeByte(byte)
    if (state === State.Extension) return this.#extensionByte(byte)
    if (state === State.DataCr) return byte === CR ? State.DataLf : State.Bad
    if (byte !== LF) return State.Bad
    if (state === State.DataLf) return State.SizeFirst
    if (state === State.TrailerLf) return this.#trailerLine()
    this.#digits = 0
    this.#count++
    return this.#size === 0 ? State.Trailer : State.Data
  }

  #sizeByte(byte: number): State {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      if (++this.#digits > SIZE_DIGITS_MAX) return State.Bad
      this.#size = this.#size * 16 + digit
      return State.Size
    }
    if (this.#digits === 0) return State.Bad
    if (byte === CR) return State.SizeLf
    return byte === SEMICOLON ? this.#extensionByte(byte) : State.Bad
  }

  #extensionByte(byte: number): State {
    if (byte === CR) return State.SizeLf
    if ((byte < 32 && byte !== 9) || byte === 127) return State.Bad
    return ++this.#extensionBytes > EXTENSION_BYTES_MAX ? State.Bad : State.Extension
  }

  #trailer(buffer: Buffer, start: number, end: number): number {
    const found = buffer.indexOf(CR, start)
    const stop = found < 0 || found >= end ? end : found
    this.#trailerBytes += stop - start
    if (this.#trailerBytes > TRAILER_BYTES_MAX) {
      this.#state = State.Bad
      return stop
    }
    this.#line += buffer.toString('latin1', start, stop)
    if (stop === end) return end
    this.#state = State.TrailerLf
    return stop + 1
  }

  #trailerLine(): State {
    const line = this.#line
    this.#line = ''
    if (line === '') return State.Done
    if (++this.#trailers > TRAILERS_MAX || hasBadControl(line)) return State.Bad
    const colon = line.indexOf(':')
    const name = fieldName(line.slice(0, Math.max(0, colon)))
    if (name === undefined) return State.Bad
    // Framing in a trailer is an attempt at smuggling (RFC 9110 section 6.5.1).
    const isFraming =
      name.kind === FieldKind.ContentLength || name.kind === FieldKind.TransferEncoding || name.kind === FieldKind.Host
    if (isFraming) return State.Bad
    if (mayTrail(name)) (this.trailers ??= new HeaderList()).append(name.lower, trimmed(line, colon + 1, line.length))
    return State.Trailer
  }
}

/** `to` is before `start`. */
function moveDown(buffer: Buffer, { to, start, stop }: { to: number; start: number; stop: number }): void {
  if (stop - start > LOOPED_BYTES_MAX) buffer.copyWithin(to, start, stop)
  else for (let i = start; i < stop; i++) buffer[to + i - start] = buffer[i] ?? 0
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
