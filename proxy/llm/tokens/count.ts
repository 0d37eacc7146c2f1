// Counts the tokens of texts in turns: a worker serves other requests between them, however long a text is.
import { setImmediate as turn } from 'node:timers/promises'
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import type { EncodingName } from './encodings.ts'
import { PieceCounter } from './merge.ts'
import { TokenTable, type TokenTableData } from './table.ts'

/** Of one prompt, in characters; the rest is estimated with the tokens for each character so far. */
export const EXACT_CHARS_MAX = 1024 * 1024
/** Characters that are counted without a look at the clock. */
const WINDOW_CHARS = 8192
/** After this time the next window waits for the next turn of the event loop. */
const TURN_MS = 2

/** Where a text is split into pieces; no token spans two of them. */
const SPLITS: { readonly [N in EncodingName]: RegExp } = {
  cl100k_base: CL100K_TOKEN_SPLIT_REGEX,
  o200k_base: O200K_TOKEN_SPLIT_REGEX,
}

export class TokenCounter {
  readonly #split: RegExp
  readonly #pieces: PieceCounter
  /** UTF-8 has at most 3 bytes for a character of UTF-16. */
  readonly #bytes = new Uint8Array(WINDOW_CHARS * 3)
  readonly #encoder = new TextEncoder()

  constructor(name: EncodingName, table: TokenTableData) {
    this.#split = new RegExp(SPLITS[name].source, 'uy')
    this.#pieces = new PieceCounter(new TokenTable(table))
  }

  /** The tokens of all texts together; each text is counted by itself. Ends early, with a lower count, if aborted. */
  async count(texts: readonly string[], signal: AbortSignal): Promise<number> {
    let tokens = 0
    let chars = 0
    let turnEndMs = performance.now() + TURN_MS
    for (const text of texts) {
      for (let start = 0; start < text.length && chars < EXACT_CHARS_MAX;) {
        const end = windowEnd(text, start)
        tokens += this.#window(text.slice(start, end))
        chars += end - start
        start = end
        if (performance.now() < turnEndMs) continue
        await turn()
        if (signal.aborted) return tokens
        turnEndMs = performance.now() + TURN_MS
      }
    }
    const all = texts.reduce((sum, { length }) => sum + length, 0)
    return all === chars ? tokens : Math.ceil((tokens / chars) * all)
  }

  #window(text: string): number {
    const split = this.#split
    const { written } = this.#encoder.encodeInto(text, this.#bytes)
    const isAscii = written === text.length
    let tokens = 0
    let byte = 0
    for (let at = 0; at < text.length; at = split.lastIndex) {
      split.lastIndex = at
      // The pieces cover each text; otherwise the rest is one piece.
      if (!split.test(text)) split.lastIndex = text.length
      const end = isAscii ? split.lastIndex : byte + bytesBetween(text, at, split.lastIndex)
      tokens += this.#pieces.count(this.#bytes, byte, end)
      byte = end
    }
    return tokens
  }
}

/** The bytes of these characters in UTF-8; half of a surrogate pair alone becomes U+FFFD, of 3 bytes. */
function bytesBetween(text: string, start: number, end: number): number {
  let bytes = 0
  for (let at = start; at < end; at++) {
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code <= 0xffff ? 3 : 4
  }
  return bytes
}

/**
 * A window ends before a space that follows another character, where a piece always ends: its count is exact. A text
 * without spaces is cut.
 */
function windowEnd(text: string, start: number): number {
  const most = start + WINDOW_CHARS
  if (most >= text.length) return text.length
  for (let end = most; end > start; end--) {
    if (text[end] === ' ' && NO_SPACE.test(text.charAt(end - 1))) return end
  }
  return LOW_SURROGATE.test(text.charAt(most)) ? most - 1 : most
}

const NO_SPACE = /\S/
const LOW_SURROGATE = /[\udc00-\udfff]/
