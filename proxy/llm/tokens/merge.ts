// Byte pair encoding of one piece of a text: the number of its tokens. A heap keeps the next merge, so that the time
// grows with n log n: a piece may be a single word of thousands of characters.
import { RANKS_MAX, type TokenTable } from './table.ts'

/** A longer piece is counted in parts, each by itself: the count may then be too high by a token for each part. */
export const PIECE_BYTES_MAX = 4096

const NO_RANK = -1

export class PieceCounter {
  readonly #table: TokenTable
  /** By the position at which a part begins: where the next one and the previous one begin. */
  readonly #next = new Int32Array(PIECE_BYTES_MAX + 1)
  readonly #previous = new Int32Array(PIECE_BYTES_MAX + 1)
  /** By the position of a part: the rank of the token that it forms with the next one. */
  readonly #ranks = new Int32Array(PIECE_BYTES_MAX + 1)
  readonly #heap = new MergeHeap(PIECE_BYTES_MAX * 3)

  constructor(table: TokenTable) {
    this.#table = table
  }

  /** The number of tokens of `text[start, end)`. */
  count(text: Uint8Array, start: number, end: number): number {
    let count = 0
    for (let from = start; from < end; from += PIECE_BYTES_MAX) {
      count += this.#countPart(text.subarray(from, Math.min(end, from + PIECE_BYTES_MAX)))
    }
    return count
  }

  #countPart(part: Uint8Array): number {
    if (part.length === 1 || this.#table.rank(part, 0, part.length) !== NO_RANK) return 1
    this.#begin(part)
    let count = part.length
    for (;;) {
      const key = this.#heap.pop()
      if (key === undefined) return count
      const at = key % PIECE_BYTES_MAX
      // Merges of parts that have changed meanwhile stay in the heap.
      if (this.#ranks[at] !== Math.floor(key / PIECE_BYTES_MAX)) continue
      this.#merge(part, at)
      count--
    }
  }

  /** Each byte is a part. */
  #begin(part: Uint8Array): void {
    this.#heap.clear()
    for (let at = 0; at < part.length; at++) {
      this.#next[at] = at + 1
      this.#previous[at] = at - 1
    }
    for (let at = 0; at < part.length; at++) this.#offer(part, at)
  }

  #merge(part: Uint8Array, at: number): void {
    const merged = this.#next[at] ?? 0
    const next = this.#next[merged] ?? 0
    this.#ranks[merged] = NO_RANK
    this.#next[at] = next
    if (next < part.length) this.#previous[next] = at
    this.#offer(part, at)
    const previous = this.#previous[at] ?? NO_RANK
    if (previous >= 0) this.#offer(part, previous)
  }

  /** The part here and the next one, as a merge. */
  #offer(part: Uint8Array, at: number): void {
    const next = this.#next[at] ?? 0
    const rank = next < part.length ? this.#table.rank(part, at, this.#next[next] ?? 0) : NO_RANK
    this.#ranks[at] = rank
    if (rank !== NO_RANK) this.#heap.push(rank * PIECE_BYTES_MAX + at)
  }
}

/** Keys are ranks, and positions for equal ranks: the leftmost merge of the lowest rank comes first. */
class MergeHeap {
  readonly #keys: Float64Array
  #size = 0

  constructor(sizeMax: number) {
    if (RANKS_MAX * PIECE_BYTES_MAX > Number.MAX_SAFE_INTEGER) throw new Error('keys are not exact')
    this.#keys = new Float64Array(sizeMax)
  }

  clear(): void {
    this.#size = 0
  }

  push(key: number): void {
    const keys = this.#keys
    let at = this.#size++
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = keys[above] ?? 0
      if (other <= key) break
      keys[at] = other
      at = above
    }
    keys[at] = key
  }

  pop(): number | undefined {
    if (this.#size === 0) return undefined
    const keys = this.#keys
    const first = keys[0]
    const last = keys[--this.#size] ?? 0
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= this.#size) break
      if (below + 1 < this.#size && (keys[below + 1] ?? 0) < (keys[below] ?? 0)) below++
      const other = keys[below] ?? 0
      if (other >= last) break
      keys[at] = other
      at = below
    }
    keys[at] = last
    return first
  }
}
