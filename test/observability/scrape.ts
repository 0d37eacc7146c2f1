// Parses a scrape in the text format of Prometheus into types, labels and buckets of each metric.
import type { ExpectedMetric } from './expected-metrics.ts'

interface Found {
  readonly labels: Set<string>
  readonly buckets: Set<number>
}

export function scraped(text: string): Map<string, ExpectedMetric> {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  const metrics = new Map<string, Found>()
  for (const [, series = '', labels = ''] of text.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? \S+$/gm)) {
    const name = types.has(series) ? series : series.replace(/_(?:bucket|sum|count)$/, '')
    const found = metrics.get(name) ?? { labels: new Set(), buckets: new Set() }
    metrics.set(name, found)
    take(found, labels)
  }
  return new Map([...metrics].map(([name, found]) => [name, metricOf(types.get(name) ?? 'none', found)]))
}

function take({ labels, buckets }: Found, text: string): void {
  for (const [, label = '', value = ''] of text.matchAll(/([a-zA-Z_0-9]+)="((?:[^"\\]|\\.)*)"/g)) {
    if (label !== 'le') labels.add(label)
    else if (value !== '+Inf') buckets.add(Number(value))
  }
}

function metricOf(type: string, { labels, buckets }: Found): ExpectedMetric {
  const bounds = [...buckets].sort((a, b) => a - b)
  // Any other type makes the comparison fail.
  const own = type as ExpectedMetric['type']
  return { type: own, labels: [...labels].sort(), ...(bounds.length > 0 && { buckets: bounds }) }
}
