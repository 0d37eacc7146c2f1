// Bytes that wait for their reader. Small pieces are joined, so that a peer that sends single bytes does not cost one
// object for each.

/** Pieces below this size share a block. */
const SMALL_BYTES = 2048
const BLOCK_BYTES = 4096

export class HeldBytes {
  readonly #chunks: Buffer[] = []
  /** The last block and its used length; not in the list yet. */
  #block: Buffer | undefined = undefined
  #used = 0
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Copies the range. */
  append(buffer: Buffer, start: number, end: number): void {
    const size = end - start
    this.#bytes += size
    if (this.#block !== undefined && this.#used + size <= this.#block.length) {
      buffer.copy(this.#block, this.#used, start, end)
      this.#used += size
      return
    }
    this.#close()
    if (size >= SMALL_BYTES) this.#chunks.push(Buffer.from(buffer.subarray(start, end)))
    else {
      // Most bodies are one small piece: a block is allocated when a second piece arrives.
      this.#block = Buffer.allocUnsafe(this.#bytes > size ? BLOCK_BYTES : size)
      buffer.copy(this.#block, 0, start, end)
      this.#used = size
    }
  }

  /** All bytes, in order; more can be appended. */
  chunks(): readonly Buffer[] {
    this.#close()
    return this.#chunks
  }

  /** All bytes as one buffer. */
  whole(): Buffer {
    const chunks = this.chunks()
    const [first] = chunks
    return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, this.#bytes)
  }

  #close(): void {
    if (this.#block !== undefined) this.#chunks.push(this.#block.subarray(0, this.#used))
    this.#block = undefined
  }
}
