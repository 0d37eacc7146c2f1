// Tokens and cost of requests to models by gateway, route and client, in points of 15 minutes: for `/model_usage`. Main
// thread only; the counts come from the workers.
import type { components } from '#api/admin/types.gen.ts'
import type { MetricsAggregate, TotalSeries } from '../metrics/aggregate.ts'
import { OVERFLOW_LABEL } from '../metrics/buffer.ts'
import { GEN_AI_COST, GEN_AI_DURATION, GEN_AI_TOKENS } from '../metrics/families.ts'
import type { Family } from '../metrics/family.ts'
import { CLIENTS_MAX, GEN_AI_CLIENT } from '../metrics/internal-families.ts'
import { RunningTotals } from './running-totals.ts'

type Schemas = components['schemas']
type Usage = Schemas['ModelUsageCounts']

/** Every time zone begins its days at one of these. */
const POINT_MS = 15 * 60_000
/** 48 hours: a day with the longest offset, and one more for those who compare. */
const POINTS_MAX = 192
const GATEWAYS_MAX = 100
const ROUTES_MAX = 200
/** Of all workers and their successors together. */
const CLIENTS_SHOWN_MAX = CLIENTS_MAX

const TOKENS_SUM_AT = (GEN_AI_TOKENS.metrics[0]?.buckets?.length ?? 0) + 1
const REQUEST_BUCKETS = (GEN_AI_DURATION.metrics[0]?.buckets?.length ?? 0) + 1
const COUNTS = ['requests', 'inputTokens', 'outputTokens', 'cost'] as const
type Count = (typeof COUNTS)[number]
const [CLIENT_REQUESTS = 0, CLIENT_INPUT = 1, CLIENT_OUTPUT = 2, CLIENT_COST = 3] = GEN_AI_CLIENT.offsets

export class ModelUsage {
  readonly #aggregate: MetricsAggregate
  readonly #startMs: number
  readonly #total = new Use()
  readonly #gateways = new Uses(GATEWAYS_MAX)
  readonly #routes = new Uses(ROUTES_MAX)
  readonly #clients = new Uses(CLIENTS_SHOWN_MAX)
  #point: number

  constructor(aggregate: MetricsAggregate, nowMs: number) {
    this.#aggregate = aggregate
    this.#startMs = nowMs
    this.#point = pointOf(nowMs)
  }

  /** Adds what the counters have gained to the current point. The aggregate is fresh. */
  advance(nowMs: number): void {
    this.#begin(pointOf(nowMs))
    this.#addFamily(GEN_AI_DURATION, 'requests', ({ totals }) =>
      totals.subarray(0, REQUEST_BUCKETS).reduce((sum, count) => sum + count, 0),
    )
    const tokensOf =
      (type: string) =>
      ({ labels, totals }: TotalSeries): number =>
        labels['gen_ai_token_type'] === type ? (totals[TOKENS_SUM_AT] ?? 0) : 0
    this.#addFamily(GEN_AI_TOKENS, 'inputTokens', tokensOf('input'))
    this.#addFamily(GEN_AI_TOKENS, 'outputTokens', tokensOf('output'))
    this.#addFamily(GEN_AI_COST, 'cost', ({ totals }) => totals[0] ?? 0)
    for (const series of this.#aggregate.series(GEN_AI_CLIENT)) this.#addClient(series)
    for (const use of this.#all()) use.end(this.#point)
  }

  /** `sinceMs`: unset, since the start of the process. The aggregate is fresh. */
  shown(nowMs: number, sinceMs = 0): Schemas['ModelUsage'] {
    this.advance(nowMs)
    const isWhole = sinceMs <= this.#startMs
    const first = Math.max(pointOf(sinceMs), this.#point - POINTS_MAX + 1)
    const counts = (use: Use): Usage => (isWhole ? use.whole() : use.since(first, this.#point))
    const clients = this.#clients.shown(counts)
    return {
      since: new Date(isWhole ? this.#startMs : first * POINT_MS).toISOString(),
      isSinceStart: isWhole,
      total: counts(this.#total),
      gateways: this.#gateways.shown(counts).map(([gateway, usage]) => ({ gateway, ...usage })),
      routes: this.#routes.shown(counts).map(([route, usage]) => ({ route, ...usage })),
      clients: clients.map(([key, usage]) => ({ ...clientOf(key), ...usage })),
      others: {
        gateways: counts(this.#gateways.others),
        routes: counts(this.#routes.others),
        clients: counts(this.#clients.others),
      },
    }
  }

  /** A clock that goes back leaves the current point as it is. */
  #begin(point: number): void {
    const ended = Math.min(point - this.#point, POINTS_MAX)
    for (let i = 0; i < ended; i++) for (const use of this.#all()) use.clear(point - i)
    this.#point = Math.max(this.#point, point)
    for (const use of this.#all()) use.begin()
  }

  #addFamily(family: Family, name: Count, countOf: (series: TotalSeries) => number): void {
    for (const series of this.#aggregate.series(family)) {
      const count = countOf(series)
      if (count === 0) continue
      const { gateway = '', route = '' } = series.labels
      for (const use of [this.#total, this.#gateways.of(gateway), this.#routes.of(route)]) use.add(name, count)
    }
  }

  #addClient({ labels: { client_kind: kind = '', client_name: name = '' }, totals }: TotalSeries): void {
    const use = this.#clients.of(kind === OVERFLOW_LABEL ? kind : `${kind} ${name}`)
    use.add('requests', totals[CLIENT_REQUESTS] ?? 0)
    use.add('inputTokens', totals[CLIENT_INPUT] ?? 0)
    use.add('outputTokens', totals[CLIENT_OUTPUT] ?? 0)
    use.add('cost', totals[CLIENT_COST] ?? 0)
  }

  *#all(): Iterable<Use> {
    yield this.#total
    for (const uses of [this.#gateways, this.#routes, this.#clients]) yield* uses.all()
  }
}

/** By name; those beyond the limit together. */
class Uses {
  readonly others = new Use()
  readonly #max: number
  readonly #byName = new Map<string, Use>()

  constructor(max: number) {
    this.#max = max
  }

  of(name: string): Use {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    // Metrics count series beyond their own limits under this name.
    if (name === OVERFLOW_LABEL || this.#byName.size >= this.#max) return this.others
    const use = new Use()
    this.#byName.set(name, use)
    return use
  }

  *all(): Iterable<Use> {
    yield this.others
    yield* this.#byName.values()
  }

  /** Those with requests or tokens: the most expensive first, then those with most tokens. */
  shown(counts: (use: Use) => Usage): (readonly [name: string, Usage])[] {
    return [...this.#byName]
      .map(([name, use]) => [name, counts(use)] as const)
      .filter(([, { requests, inputTokens, outputTokens }]) => requests + inputTokens + outputTokens > 0)
      .toSorted(([, a], [, b]) => b.cost - a.cost || tokensOf(b) - tokensOf(a) || b.requests - a.requests)
  }
}

/** Running totals, and what they gained in each point. */
class Use {
  readonly #points = new Float64Array(POINTS_MAX * COUNTS.length)
  readonly #totals = new RunningTotals(COUNTS.length)

  begin(): void {
    this.#totals.begin()
  }

  add(name: Count, count: number): void {
    this.#totals.add(COUNTS.indexOf(name), count)
  }

  end(point: number): void {
    const at = slotOf(point)
    this.#totals.forEachGain((gain, slot) => {
      this.#points[at + slot] = (this.#points[at + slot] ?? 0) + gain
    })
  }

  clear(point: number): void {
    this.#points.fill(0, slotOf(point), slotOf(point) + COUNTS.length)
  }

  whole(): Usage {
    return usageOf(this.#totals.current)
  }

  /** With both points. */
  since(first: number, last: number): Usage {
    const sum = new Float64Array(COUNTS.length)
    for (let point = first; point <= last; point++) {
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (this.#points[slotOf(point) + i] ?? 0)
    }
    return usageOf(sum)
  }
}

function pointOf(timeMs: number): number {
  return Math.floor(timeMs / POINT_MS)
}

function slotOf(point: number): number {
  return (point % POINTS_MAX) * COUNTS.length
}

function usageOf([requests = 0, inputTokens = 0, outputTokens = 0, cost = 0]: Float64Array): Usage {
  return { requests, inputTokens, outputTokens, cost }
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens
}

function clientOf(key: string): Pick<Schemas['ModelUsageClient'], 'kind' | 'name'> {
  const end = key.indexOf(' ')
  // Written by the workers of the same program.
  return { kind: key.slice(0, end) as Schemas['ModelUsageClient']['kind'], name: key.slice(end + 1) }
}
