// When a dead worker may come back: at once, unless its slot dies too often. Pure.

const WINDOW_MS = 10_000
/** Deaths in the window that are answered at once. */
const QUICK_RESTARTS_MAX = 5
const FIRST_DELAY_MS = 500
const DELAY_MS_MAX = 10_000

export interface RestartHistory {
  /** Notes a death at `nowMs` and says how long to wait before the restart. */
  died(nowMs: number): number
}

export function createRestartHistory(): RestartHistory {
  let deaths: number[] = []
  return {
    died(nowMs) {
      deaths = deaths.filter((at) => nowMs - at < WINDOW_MS)
      deaths.push(nowMs)
      const excess = deaths.length - QUICK_RESTARTS_MAX
      return excess <= 0 ? 0 : Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (excess - 1))
    },
  }
}
