// Figures as the pages show them. Pure.

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const DOLLARS = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })

export function countText(count: number): string {
  return COUNT.format(count)
}

export function dollarsText(dollars: number): string {
  return `$${DOLLARS.format(dollars)}`
}

/** `seconds`: null without requests. */
export function latencyText(seconds: number | null): string {
  if (seconds === null) return ''
  return seconds < 1 ? `${COUNT.format(seconds * 1000)} ms` : `${COUNT.format(seconds)} s`
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const RELATIVE = new Intl.RelativeTimeFormat('en')

/** `2026-12-10 12:00 (in 12 days)`. `time`: in ISO 8601. */
export function untilText(time: string, now = Date.now()): string {
  const distance = Date.parse(time) - now
  const [size, unit] = Math.abs(distance) < 2 * DAY_MS ? ([HOUR_MS, 'hour'] as const) : ([DAY_MS, 'day'] as const)
  return `${time.slice(0, 16).replace('T', ' ')} (${RELATIVE.format(Math.trunc(distance / size), unit)})`
}

const MINUTE_MS = 60_000
const SINCE = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
  [1000, 'second'],
] as const

/** `12 minutes ago`. `time`: in ISO 8601, in the past. */
export function sinceText(time: string, now = Date.now()): string {
  const age = Math.max(0, now - Date.parse(time))
  const [size, unit] = SINCE.find(([length]) => age >= 2 * length) ?? [1000, 'second']
  return RELATIVE.format(-Math.floor(age / size), unit)
}
