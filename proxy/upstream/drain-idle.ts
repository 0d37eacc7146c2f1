// Limits of connections that no call uses. Those of HTTP/2 are checked at each sweep, so that no call pays for it.

export interface IdleLimits {
  /** Kept for one target. */
  readonly idlePerTargetMax: number
  readonly idleTimeoutMs: number
}

interface IdleSession {
  /** undefined: in use. */
  readonly idleSinceMs: number | undefined
  drain(): void
}

/** Closes connections that were idle for too long, and those beyond the number that is kept. */
export function drainIdle(
  sessions: Iterable<IdleSession>,
  { idlePerTargetMax, idleTimeoutMs }: IdleLimits,
  nowMs: number,
): void {
  let kept = 0
  for (const session of sessions) {
    if (session.idleSinceMs === undefined) continue
    if (nowMs - session.idleSinceMs >= idleTimeoutMs || kept >= idlePerTargetMax) session.drain()
    else kept++
  }
}
