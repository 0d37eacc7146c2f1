// Durations of the API: Gateway API style (GEP-2257). CEL has its own, with fractions and signs: api/cel/values/.

/** Up to four groups of one to five digits and a unit. */
const PATTERN = /^(?:\d{1,5}(?:h|ms|m|s)){1,4}$/

const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

/**
 * 99999h59m59s999ms, the longest duration with one group of each unit. Longer ones (several groups of hours) mean this.
 */
export const DURATION_MS_MAX = 99_999 * UNIT_MS.h + 59 * UNIT_MS.m + 59 * UNIT_MS.s + 999

export type DurationOutcome = { readonly ms: number } | { readonly problem: string }

/** Reads `1h30m`, `500ms`, `0s`, … Groups add up in any order. */
export function parseDuration(text: string): DurationOutcome {
  if (!PATTERN.test(text)) {
    return {
      problem:
        'is not a duration: write up to four groups of 1 to 5 digits and a unit (h, m, s, ms), such as 500ms, 10s or 1h30m',
    }
  }
  let ms = 0
  for (const [, digits, unit] of text.matchAll(/(\d+)(ms|[hms])/g)) ms += Number(digits) * unitMs(unit)
  return { ms: Math.min(ms, DURATION_MS_MAX) }
}

/**
 * The shortest usual text of a duration: whole units in falling order, `0s` for none.
 * @throws {RangeError} if it is not a whole number of milliseconds from 0 to DURATION_MS_MAX: the caller has a bug.
 */
export function formatDuration(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > DURATION_MS_MAX) throw new RangeError(`not a duration in ms: ${ms}`)
  let rest = ms
  let text = ''
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(rest / UNIT_MS[unit])
    rest -= count * UNIT_MS[unit]
    if (count > 0) text += `${count}${unit}`
  }
  return text === '' ? '0s' : text
}

function unitMs(unit: string | undefined): number {
  return unit === 'h' || unit === 'm' || unit === 's' ? UNIT_MS[unit] : UNIT_MS.ms
}
