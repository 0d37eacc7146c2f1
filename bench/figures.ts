// Figures of a list of times. Pure.

export interface Spread {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}

/** The upper one of two. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
