// The vocabulary of an encoding as a hash table in shared memory, which all workers read: the bytes of each token, and
// its rank, which is the order of merges.

/** Plain data for messages between threads. */
export interface TokenTableData {
  /** The bytes of all tokens, one after the other. */
  readonly bytes: Uint8Array
  /** Where the token of a rank begins in `bytes`; one more entry than there are ranks. */
  readonly starts: Uint32Array
  /** Rank + 1 by hash; 0: free. Its length is a power of 2. */
  readonly slots: Int32Array
}

/** Tokens as text, or as bytes that are not UTF-8; the index is the rank. */
export type Vocabulary = readonly (string | readonly number[])[]

/** Ranks are part of the keys of merge.ts. */
export const RANKS_MAX = 1 << 20

const HASH_START = 0x811c9dc5
const HASH_FACTOR = 0x01000193

export function tokenTableOf(vocabulary: Vocabulary): TokenTableData {
  if (vocabulary.length > RANKS_MAX) throw new Error(`the vocabulary has more than ${RANKS_MAX} tokens`)
  const tokens = vocabulary.map((token) => Buffer.from(token))
  const bytes = new Uint8Array(new SharedArrayBuffer(tokens.reduce((sum, { length }) => sum + length, 0)))
  const starts = new Uint32Array(new SharedArrayBuffer((tokens.length + 1) * Uint32Array.BYTES_PER_ELEMENT))
  const slotCount = 2 ** Math.ceil(Math.log2(tokens.length * 2))
  const slots = new Int32Array(new SharedArrayBuffer(slotCount * Int32Array.BYTES_PER_ELEMENT))
  let at = 0
  for (const [rank, token] of tokens.entries()) {
    bytes.set(token, at)
    at += token.length
    starts[rank + 1] = at
    // A rank without a token is never found.
    if (token.length === 0) continue
    let slot = hashOf(token, 0, token.length) & (slotCount - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1)
    slots[slot] = rank + 1
  }
  return { bytes, starts, slots }
}

/** Finds tokens. One for each thread. */
export class TokenTable {
  readonly #bytes: Uint8Array
  readonly #starts: Uint32Array
  readonly #slots: Int32Array

  constructor({ bytes, starts, slots }: TokenTableData) {
    this.#bytes = bytes
    this.#starts = starts
    this.#slots = slots
  }

  /** The rank of the token `text[start, end)`; -1: these bytes are not a token. */
  rank(text: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1
    let slot = hashOf(text, start, end) & mask
    for (;;) {
      const rank = (this.#slots[slot] ?? 0) - 1
      if (rank === -1 || this.#isAt(rank, text, start, end)) return rank
      slot = (slot + 1) & mask
    }
  }

  #isAt(rank: number, text: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[rank] ?? 0
    if ((this.#starts[rank + 1] ?? 0) - from !== end - start) return false
    for (let i = start; i < end; i++) if (this.#bytes[from + i - start] !== text[i]) return false
    return true
  }
}

/** FNV-1a. */
function hashOf(text: Uint8Array, start: number, end: number): number {
  let hash = HASH_START
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (text[i] ?? 0), HASH_FACTOR)
  return hash ^ (hash >>> 15)
}
