// The traffic of the last hour, for the web UI: what the counters of all workers gained in each interval. Main thread
// only; reads shared memory.
import type { components } from '#api/admin/types.gen.ts'
import type { MetricsAggregate, TotalSeries } from '../metrics/aggregate.ts'
import { EXCHANGE, type GaugeName, GEN_AI_COST, GEN_AI_DURATION, GEN_AI_TOKENS } from '../metrics/families.ts'
import type { Family } from '../metrics/family.ts'
import { ModelUsage } from './model-usage.ts'
import { quantileOf } from './quantile.ts'
import { RunningTotals } from './running-totals.ts'

type Schemas = components['schemas']

const INTERVAL_MS = 15_000
/** Of one hour. */
const INTERVALS_MAX = 240
/** Intervals that the figures of a listener cover: 5 minutes. */
const LISTENER_INTERVALS = 20
/** Further listeners are part of the totals only. */
const LISTENERS_MAX = 100
/** Those with the highest cost, then those with most tokens. */
const MODELS_MAX = 100

const SECONDS = bucketsOf(EXCHANGE, 1)
const SECONDS_AT = EXCHANGE.offsets[1] ?? 0
const TOKENS_SUM_AT = bucketsOf(GEN_AI_TOKENS, 0).length + 1
const MODEL_BUCKETS = bucketsOf(GEN_AI_DURATION, 0).length + 1
/** Counts of one interval, then those of the buckets of the latency. */
const COUNTS = ['requests', 'clientErrors', 'serverErrors', 'inputTokens', 'outputTokens', 'cost'] as const
const SLOTS = COUNTS.length + SECONDS.length + 1
type Count = (typeof COUNTS)[number]

export class TrafficHistory {
  readonly #aggregate: MetricsAggregate
  readonly #total = new Intervals(INTERVALS_MAX)
  readonly #listeners = new Map<string, { readonly place: Schemas['TrafficPlace']; readonly intervals: Intervals }>()
  /** By the labels of a series, which are the same object each time. */
  readonly #known = new WeakMap<object, readonly Intervals[]>()
  readonly #sampling = setInterval(() => this.sample(), INTERVAL_MS).unref()
  readonly #usage: ModelUsage
  #endMs = Date.now()

  constructor(aggregate: MetricsAggregate) {
    this.#aggregate = aggregate
    this.#usage = new ModelUsage(aggregate, this.#endMs)
  }

  close(): void {
    clearInterval(this.#sampling)
  }

  /** Ends an interval. */
  sample(): void {
    this.#aggregate.refresh()
    for (const intervals of this.#all()) intervals.begin()
    for (const series of this.#aggregate.series(EXCHANGE)) this.#addRequests(series)
    for (const series of this.#aggregate.series(GEN_AI_TOKENS)) this.#addTokens(series)
    for (const series of this.#aggregate.series(GEN_AI_COST)) this.#add(series, 'cost', series.totals[0] ?? 0)
    for (const intervals of this.#all()) intervals.end()
    this.#endMs = Date.now()
    this.#usage.advance(this.#endMs)
  }

  /** The whole answer of `/model_usage`. `sinceMs`: unset, since the start of the process. */
  modelUsage(sinceMs?: number): Schemas['ModelUsage'] {
    this.#aggregate.refresh()
    return this.#usage.shown(Date.now(), sinceMs)
  }

  /** `serving`: metrics memory of the workers in use. */
  shown(serving: readonly SharedArrayBuffer[]): Schemas['Traffic'] {
    this.#aggregate.refresh()
    const now = (name: GaugeName): number =>
      serving.reduce((sum, buffer) => sum + this.#aggregate.gauges(buffer, name), 0)
    return {
      intervalSeconds: INTERVAL_MS / 1000,
      end: new Date(this.#endMs).toISOString(),
      openConnections: now('openConnections'),
      activeRequests: now('activeRequests'),
      requests: this.#total.counts('requests'),
      clientErrors: this.#total.counts('clientErrors'),
      serverErrors: this.#total.counts('serverErrors'),
      inputTokens: this.#total.counts('inputTokens'),
      outputTokens: this.#total.counts('outputTokens'),
      cost: this.#total.counts('cost'),
      latencyP50: this.#total.quantiles(0.5),
      latencyP99: this.#total.quantiles(0.99),
      listeners: [...this.#listeners.values()].map(({ place, intervals }) => ({ ...place, ...intervals.summary() })),
      models: modelsOf(this.#aggregate),
    }
  }

  *#all(): Iterable<Intervals> {
    yield this.#total
    for (const { intervals } of this.#listeners.values()) yield intervals
  }

  #addRequests(series: TotalSeries): void {
    const { totals, labels } = series
    const requests = totals[0] ?? 0
    this.#add(series, 'requests', requests)
    if (labels['status']?.startsWith('4') === true) this.#add(series, 'clientErrors', requests)
    if (labels['status']?.startsWith('5') === true) this.#add(series, 'serverErrors', requests)
    // Connections of other protocols than HTTP have a duration, but are not requests.
    if (requests === 0) return
    for (const intervals of this.#of(labels)) intervals.addBuckets(totals, SECONDS_AT)
  }

  #addTokens(series: TotalSeries): void {
    const type = series.labels['gen_ai_token_type']
    const count = series.totals[TOKENS_SUM_AT] ?? 0
    if (type === 'input') this.#add(series, 'inputTokens', count)
    if (type === 'output') this.#add(series, 'outputTokens', count)
  }

  #add({ labels }: TotalSeries, name: Count, count: number): void {
    for (const intervals of this.#of(labels)) intervals.add(name, count)
  }

  #of(labels: TotalSeries['labels']): readonly Intervals[] {
    const known = this.#known.get(labels)
    if (known !== undefined) return known
    const all = [this.#total, ...this.#listenerOf(labels)]
    this.#known.set(labels, all)
    return all
  }

  #listenerOf({ bind = '', gateway = '', listener = '' }: TotalSeries['labels']): readonly Intervals[] {
    const key = `${bind} ${gateway} ${listener}`
    let known = this.#listeners.get(key)
    if (known === undefined && this.#listeners.size < LISTENERS_MAX) {
      known = { place: { bind, gateway, listener }, intervals: new Intervals(LISTENER_INTERVALS) }
      this.#listeners.set(key, known)
    }
    return known === undefined ? [] : [known.intervals]
  }
}

/** Differences of running totals; the oldest interval makes room for a new one. */
class Intervals {
  readonly #max: number
  readonly #rows: Float64Array[] = []
  readonly #totals = new RunningTotals(SLOTS)

  constructor(max: number) {
    this.#max = max
  }

  begin(): void {
    this.#totals.begin()
  }

  add(name: Count, count: number): void {
    this.#totals.add(COUNTS.indexOf(name), count)
  }

  addBuckets(totals: Float64Array, at: number): void {
    for (let i = 0; i <= SECONDS.length; i++) this.#totals.add(COUNTS.length + i, totals[at + i] ?? 0)
  }

  end(): void {
    const row = this.#rows.length < this.#max ? new Float64Array(SLOTS) : this.#rows.shift()
    if (row === undefined) return
    this.#totals.forEachGain((gain, slot) => (row[slot] = gain))
    this.#rows.push(row)
  }

  /** The oldest interval first. */
  counts(name: Count): number[] {
    const slot = COUNTS.indexOf(name)
    return this.#rows.map((row) => row[slot] ?? 0)
  }

  quantiles(quantile: number): (number | null)[] {
    return this.#rows.map((row) => quantileOf(SECONDS, row.subarray(COUNTS.length), quantile))
  }

  /** Of all intervals together. */
  summary(): Pick<Schemas['TrafficListener'], Count | 'latencyP50' | 'latencyP99'> {
    const sum = new Float64Array(SLOTS)
    for (const row of this.#rows) row.forEach((count, slot) => (sum[slot] = (sum[slot] ?? 0) + count))
    const count = (name: Count): number => sum[COUNTS.indexOf(name)] ?? 0
    const buckets = sum.subarray(COUNTS.length)
    return {
      requests: count('requests'),
      clientErrors: count('clientErrors'),
      serverErrors: count('serverErrors'),
      inputTokens: count('inputTokens'),
      outputTokens: count('outputTokens'),
      cost: count('cost'),
      latencyP50: quantileOf(SECONDS, buckets, 0.5),
      latencyP99: quantileOf(SECONDS, buckets, 0.99),
    }
  }
}

/** Since the start of the process. */
function modelsOf(aggregate: MetricsAggregate): Schemas['TrafficModel'][] {
  const models = new Map<string, Schemas['TrafficModel']>()
  const modelOf = ({ labels }: TotalSeries): Schemas['TrafficModel'] => {
    const {
      gen_ai_system: provider = '',
      gen_ai_request_model: requested = '',
      gen_ai_response_model: served = '',
    } = labels
    const { route = '' } = labels
    const key = [provider, requested, served, route].join('\u0000')
    const known = models.get(key)
    if (known !== undefined) return known
    const fresh = { provider, requested, served, route, requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
    models.set(key, fresh)
    return fresh
  }
  for (const series of aggregate.series(GEN_AI_DURATION)) {
    modelOf(series).requests += series.totals.subarray(0, MODEL_BUCKETS).reduce((sum, count) => sum + count, 0)
  }
  for (const series of aggregate.series(GEN_AI_TOKENS)) {
    const count = series.totals[TOKENS_SUM_AT] ?? 0
    const type = series.labels['gen_ai_token_type']
    if (type === 'input') modelOf(series).inputTokens += count
    if (type === 'output') modelOf(series).outputTokens += count
  }
  for (const series of aggregate.series(GEN_AI_COST)) modelOf(series).cost += series.totals[0] ?? 0
  const tokens = (model: Schemas['TrafficModel']): number => model.inputTokens + model.outputTokens
  return [...models.values()].sort((a, b) => b.cost - a.cost || tokens(b) - tokens(a)).slice(0, MODELS_MAX)
}

function bucketsOf({ metrics }: Family, metric: number): Float64Array {
  return metrics[metric]?.buckets ?? new Float64Array()
}
