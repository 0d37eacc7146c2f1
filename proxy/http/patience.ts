// How long a client of HTTP/1.1 is waited for. The sweep asks once a second; nothing here runs for a request.
import { QUIET_MS } from './closing.ts'
import type { ConnectionLimits } from './handler.ts'

/** A head that has begun must be complete by then, however long connections may idle (slow header attack). */
const HEAD_TIMEOUT_MS = 30_000
/** After the last response what the client still sends is read and dropped, or a reset could eat that response. */
const LINGER_MS = 2000
/** What a client may still send after its last response. */
export const LINGER_BYTES_MAX = 1024 * 1024

/**
 * What a connection waits for: `LastRequest` when the client was asked to leave, `Rest` for a body whose request is
 * being answered already, `End` after its last response.
 */
export type Awaited = 'Request' | 'LastRequest' | 'Head' | 'Body' | 'Rest' | 'End'

export class Patience {
  /** When the present wait was first seen by the sweep; 0: there was progress since. */
  #sinceMs = 0

  get sinceMs(): number {
    return this.#sinceMs
  }

  /** Something came, or something else is waited for. */
  renew(): void {
    this.#sinceMs = 0
  }

  isOver(awaited: Awaited, nowMs: number, limits: ConnectionLimits): boolean {
    if (this.#sinceMs === 0) this.#sinceMs = nowMs
    else if (nowMs - this.#sinceMs >= patienceMs(awaited, limits)) return true
    return false
  }
}

function patienceMs(awaited: Awaited, { idleTimeoutMs, bodyIdleTimeoutMs }: ConnectionLimits): number {
  if (awaited === 'End') return LINGER_MS
  if (awaited === 'Body') return Math.min(idleTimeoutMs, bodyIdleTimeoutMs)
  if (awaited === 'LastRequest') return Math.min(idleTimeoutMs, QUIET_MS)
  return awaited === 'Head' ? Math.min(idleTimeoutMs, HEAD_TIMEOUT_MS) : idleTimeoutMs
}
