// Notices a peer that takes nothing of what waits for it. While it stalls, the other side is paused and its leaving
// cannot be seen, so without this a pair of connections could hang for ever.
import type { Transport } from './transport.ts'

/** Time without a byte taken by the kernel while bytes wait. */
export const WRITE_STALL_MS = 60_000

export class WriteStall {
  #sinceMs = 0
  #flushedBytes = -1

  /** To be asked by every sweep. */
  isOverdue(transport: Transport, nowMs: number): boolean {
    const flushed = transport.writableLength === 0 ? -1 : transport.flushedBytes
    if (flushed < 0 || flushed !== this.#flushedBytes) this.#sinceMs = nowMs
    this.#flushedBytes = flushed
    return nowMs - this.#sinceMs >= WRITE_STALL_MS
  }
}
