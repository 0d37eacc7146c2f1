// Detects a peer that does not read the bytes that wait for it. The other side is paused during the stall, so its end
// is invisible; without this check, a pair of connections could hang forever.
import type { Transport } from './transport.ts'

/** Time in which the kernel accepts no byte while bytes wait. */
export const WRITE_STALL_MS = 60_000

export class WriteStall {
  #sinceMs = 0
  #flushedBytes = -1

  /** Called by every sweep. */
  isOverdue(transport: Transport, nowMs: number): boolean {
    const flushed = transport.writableLength === 0 ? -1 : transport.flushedBytes
    if (flushed < 0 || flushed !== this.#flushedBytes) this.#sinceMs = nowMs
    this.#flushedBytes = flushed
    return nowMs - this.#sinceMs >= WRITE_STALL_MS
  }
}
