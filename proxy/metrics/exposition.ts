// The response to a scrape: passes totals to prom-client's registry, which implements the text formats. One registry
// for each format, because OpenMetrics renames counters.
import type { Metric, OpenMetricsContentType } from 'prom-client'
import { Registry } from 'prom-client'
import type { MetricsAggregate, TotalSeries } from './aggregate.ts'
import type { Exposition, PlainMetric } from './exposed.ts'
import { EXPOSED_FAMILIES } from './families.ts'
import type { Family, MetricShape } from './family.ts'
import { encodeFamilies, PROTOBUF_CONTENT_TYPE, type Distribution, type ProtobufFamily } from './protobuf.ts'
import { scrapeFormat } from './scrape-format.ts'

interface Sample {
  readonly metricName?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly sharedLabels?: Readonly<Record<string, string>>
  readonly value: number
}

type Format = 'text' | 'openMetrics'

export function createExposition(aggregate: MetricsAggregate, plain: readonly PlainMetric[]): Exposition {
  const text = new Registry()
  const openMetrics = new Registry<OpenMetricsContentType>()
  openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const registries = [
    ['text', text],
    ['openMetrics', openMetrics],
  ] as const
  for (const [format, registry] of registries) {
    for (const family of EXPOSED_FAMILIES) {
      family.metrics.forEach((shape, i) => {
        const at = family.offsets[i] ?? 0
        registry.registerMetric(workerMetric({ aggregate, family, shape, at, format }))
      })
    }
    for (const metric of plain) registry.registerMetric(plainMetric(metric, format))
  }
  return {
    async scrape(accept) {
      aggregate.refresh()
      const format = scrapeFormat(accept)
      if (format === 'protobuf') {
        return { contentType: PROTOBUF_CONTENT_TYPE, body: encodeFamilies(protobufFamilies(aggregate, plain)) }
      }
      const registry = format === 'openMetrics' ? openMetrics : text
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}

function* protobufFamilies(
  aggregate: MetricsAggregate,
  plain: readonly PlainMetric[],
): Generator<ProtobufFamily, void, undefined> {
  for (const family of EXPOSED_FAMILIES) {
    for (const [i, { name, help, buckets }] of family.metrics.entries()) {
      const at = family.offsets[i] ?? 0
      const all = aggregate.series(family)
      if (buckets === undefined) {
        const values = all.map(({ labels, totals }) => ({ labels, value: totals[at] ?? 0 }))
        yield { name, help, type: 'counter', values }
      } else {
        const values = all.map((series) => distributionOf(series, buckets, at)).filter(({ count }) => count > 0)
        yield { name, help, type: 'histogram', values }
      }
    }
  }
  for (const { name, help, type, values } of plain) {
    yield { name, help, type, values: values().map(({ labels = {}, value }) => ({ labels, value })) }
  }
}

function distributionOf({ labels, totals }: TotalSeries, bounds: Float64Array, at: number): Distribution {
  let count = 0
  const buckets = Array.from(bounds, (upperBound, i) => {
    count += totals[at + i] ?? 0
    return { upperBound, count }
  })
  count += totals[at + bounds.length] ?? 0
  return { labels, count, sum: totals[at + bounds.length + 1] ?? 0, buckets }
}

/** Counters have no suffix in the metadata of OpenMetrics; prom-client adds it to each sample. */
function exposedName(name: string, format: Format): string {
  return format === 'openMetrics' ? name.replace(/_total$/, '') : name
}

function registered(init: { name: string; help: string; type: string; get: () => unknown }): Metric {
  // The registry uses name, help, type and get() only; its type requires prom-client's own classes.
  return { ...init, reset: () => undefined } as unknown as Metric
}

function plainMetric(metric: PlainMetric, format: Format): Metric {
  const name = metric.type === 'counter' ? exposedName(metric.name, format) : metric.name
  const { help, type } = metric
  return registered({ name, help, type, get: () => ({ name, help, type, values: metric.values() }) })
}

interface WorkerMetric {
  readonly aggregate: MetricsAggregate
  readonly family: Family
  readonly shape: MetricShape
  readonly at: number
  readonly format: Format
}

function workerMetric({ aggregate, family, shape, at, format }: WorkerMetric): Metric {
  const { buckets, help } = shape
  const type = buckets === undefined ? 'counter' : 'histogram'
  const name = buckets === undefined ? exposedName(shape.name, format) : shape.name
  const get = (): unknown => {
    const values: Sample[] = []
    for (const series of aggregate.series(family)) {
      if (buckets === undefined) values.push({ sharedLabels: series.labels, value: series.totals[at] ?? 0 })
      else pushHistogram({ values, name, buckets, series, at })
    }
    return { name, help, type, values }
  }
  return registered({ name, help, type, get })
}

interface HistogramParts {
  readonly values: Sample[]
  readonly name: string
  readonly buckets: Float64Array
  readonly series: TotalSeries
  readonly at: number
}

function pushHistogram({ values, name, buckets, series, at }: HistogramParts): void {
  const { labels: sharedLabels, totals } = series
  const samples: Sample[] = []
  let count = 0
  for (let i = 0; i <= buckets.length; i++) {
    count += totals[at + i] ?? 0
    const le = i < buckets.length ? String(buckets[i]) : '+Inf'
    samples.push({ metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count })
  }
  // A series of several metrics may have counts only in the others.
  if (count === 0) return
  values.push(...samples)
  values.push({ metricName: `${name}_sum`, sharedLabels, value: totals[at + buckets.length + 1] ?? 0 })
  values.push({ metricName: `${name}_count`, sharedLabels, value: count })
}
