// The time format of all log lines: RFC 3339 in UTC with microseconds. Caches the second; no Date object on most calls.

let cachedSecond = -1
let cachedPrefix = ''

/**
 * The wall clock may be set while the process runs: its offset to the monotonic clock is measured again at this
 * interval.
 */
const RESYNC_MS = 1000
let offsetMs = 0
let resyncAtMs = -1

/** Microseconds since the Unix epoch for a reading of `performance.now()`. */
export function microsAt(monotonicMs: number): number {
  if (monotonicMs >= resyncAtMs) {
    const now = performance.now()
    offsetMs = Date.now() - now
    resyncAtMs = now + RESYNC_MS
  }
  return Math.floor((offsetMs + monotonicMs) * 1000)
}

export function nowMicros(): number {
  return microsAt(performance.now())
}

/** `2026-01-02T03:04:05.678901Z` for microseconds since the epoch. */
export function formatMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  if (second !== cachedSecond) {
    cachedSecond = second
    cachedPrefix = new Date(second * 1000).toISOString().slice(0, 20)
  }
  // 1000000 + x has seven digits: the leading 1 keeps the zeros of the fraction.
  return `${cachedPrefix}${String(1_000_000 + (micros - second * 1_000_000)).slice(1)}Z`
}
