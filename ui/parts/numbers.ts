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
