// Delays the next start of a command whose processes exit soon after their start. Does not start processes.

/** A process that ran for longer has started successfully, whatever ended it. */
const STARTED_MS = 10_000
/** After the second early exit in a row; doubles with each further one. */
const DELAY_MS = 1000
const DELAY_MS_MAX = 60_000

interface Exits {
  /** In a row, each soon after its start. */
  count: number
  lastMs: number
}

/** Commands by path; one entry for each command of the configuration that exits early. */
export class StdioStarts {
  readonly #early = new Map<string, Exits>()

  /** Milliseconds until the command may start again; 0: now. */
  waitMs(path: string, nowMs: number): number {
    const exits = this.#early.get(path)
    if (exits === undefined || exits.count < 2) return 0
    const delayMs = Math.min(DELAY_MS * 2 ** (exits.count - 2), DELAY_MS_MAX)
    return Math.max(exits.lastMs + delayMs - nowMs, 0)
  }

  /** A process has ended by itself. */
  ended(path: string, startedMs: number, nowMs: number): void {
    if (nowMs - startedMs >= STARTED_MS) {
      this.#early.delete(path)
      return
    }
    const exits = this.#early.get(path) ?? { count: 0, lastMs: 0 }
    exits.count++
    exits.lastMs = nowMs
    this.#early.set(path, exits)
  }
}
