// Ranges of citations: bytes of UTF-8 in this format, UTF-16 units in canonical answers.
import type { Citation } from '../../canonical/request.ts'

/** Ranges in longer texts are left out: each costs a pass over the text. */
const CHARS_MAX = 131_072

interface Bytes {
  readonly startIndex: number
  readonly endIndex: number
}

/** The text of a part, up to the limit, as it grows. */
export class CitedText {
  #text = ''
  #isTooLong = false
  /** Bytes of what is not kept. */
  #restBytes = 0

  /** Of all of it. */
  get byteLength(): number {
    return Buffer.byteLength(this.#text) + this.#restBytes
  }

  append(text: string): void {
    this.#isTooLong ||= this.#text.length + text.length > CHARS_MAX
    if (this.#isTooLong) this.#restBytes += Buffer.byteLength(text)
    else this.#text += text
  }

  /** undefined: unknown. `base`: bytes of the answer in front of the part. */
  bytesOf({ start, end }: Citation, base: number): Bytes | undefined {
    if (start === undefined || end === undefined || this.#isTooLong) return undefined
    return { startIndex: base + this.#bytesAt(start), endIndex: base + this.#bytesAt(end) }
  }

  /** undefined: the text has no such range. */
  unitsOf(startByte: number, endByte: number): { readonly start: number; readonly end: number } | undefined {
    if (this.#isTooLong || startByte >= endByte) return undefined
    const bytes = Buffer.from(this.#text)
    if (endByte > bytes.length) return undefined
    if (bytes.length === this.#text.length) return { start: startByte, end: endByte }
    return { start: bytes.toString('utf8', 0, startByte).length, end: bytes.toString('utf8', 0, endByte).length }
  }

  #bytesAt(units: number): number {
    return Buffer.byteLength(this.#text.slice(0, units))
  }
}
