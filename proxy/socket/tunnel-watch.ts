// Checks a tunnel once a second: closes it if no bytes move, or if the backend reads nothing. Does not count bytes
// itself.
import type { Transport } from './transport.ts'
import { WriteStall } from './write-stall.ts'

/** A pair of connections without a byte in either direction for this time is closed. */
export const TUNNEL_IDLE_MS = 3_600_000

export interface WatchedTunnel {
  /** The transport of the backend. */
  readonly peer: Transport
  /** Bytes of both directions so far. */
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

  /** Called by every sweep. Returns true if the tunnel has been idle for too long and both ends must be closed. */
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
