// Selects the format of a scrape by its Accept header (RFC 9110 section 12.5.1). The default is text.

export type ScrapeFormat = 'text' | 'openMetrics' | 'protobuf'

const PARTS_MAX = 32

/** The acceptable format with the highest weight; the first one of equals. */
export function scrapeFormat(accept: string | undefined): ScrapeFormat {
  let best: ScrapeFormat = 'text'
  let bestWeight = 0
  for (const part of (accept ?? '').toLowerCase().split(',', PARTS_MAX)) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
    const format = formatOf(type, parameters)
    const weight = weightOf(parameters)
    if (format === undefined || weight <= bestWeight) continue
    best = format
    bestWeight = weight
  }
  return best
}

/** undefined: a format that this proxy does not support. */
function formatOf(type: string, parameters: readonly string[]): ScrapeFormat | undefined {
  if (type === 'application/openmetrics-text') return 'openMetrics'
  if (type === 'text/plain' || type === 'text/*' || type === '*/*') return 'text'
  if (type !== 'application/vnd.google.protobuf') return undefined
  const isOurs = (name: string, value: string): boolean =>
    parameters.every((one) => !one.startsWith(`${name}=`) || one === `${name}=${value}`)
  return isOurs('proto', 'io.prometheus.client.metricfamily') && isOurs('encoding', 'delimited')
    ? 'protobuf'
    : undefined
}

function weightOf(parameters: readonly string[]): number {
  const text = parameters.find((one) => one.startsWith('q='))?.slice('q='.length)
  if (text === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}
