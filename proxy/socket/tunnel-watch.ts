// Looks after a tunnel once a second: ends one in which nothing moves, or whose backend takes nothing. Counts no bytes
// itself.
import type { Transport } from './transport.ts'
import { WriteStall } from './write-stall.ts'

/** A pair of connections without a byte either way for so long is taken to be dead. */
export const TUNNEL_IDLE_MS = 3_600_000

export interface WatchedTunnel {
  /** That of the backend. */
  readonly peer: Transport
  /** Both ways together, so far. */
  movedBytes(): number
}

export class TunnelWatch {
  readonly #tunnel: WatchedTunnel
  readonly #stall = new WriteStall()
  #seenBytes = -1
  #idleSinceMs = 0

  constructor(tunnel: WatchedTunnel) {
    this.#tunnel = tunnel
  }

  /** To be called by every sweep. True: it has been idle for too long, and both ends have to go. */
  isOverdue(nowMs: number): boolean {
    const { peer } = this.#tunnel
    if (this.#stall.isOverdue(peer, nowMs)) peer.destroy()
    const bytes = this.#tunnel.movedBytes()
    if (bytes !== this.#seenBytes) {
      this.#seenBytes = bytes
      this.#idleSinceMs = nowMs
    }
    return nowMs - this.#idleSinceMs >= TUNNEL_IDLE_MS
  }
}
