// From counts of workers in shared memory to the answer of `/traffic`.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MetricsAggregate } from '../metrics/aggregate.ts'
import { SeriesTable, createMetricsBuffer } from '../metrics/buffer.ts'
import { EXCHANGE, GEN_AI_COST, GEN_AI_DURATION, GEN_AI_TOKENS, ROUTE_LABELS } from '../metrics/families.ts'
import type { Family } from '../metrics/family.ts'
import { addCount } from '#proxy/admin/counts.testing.ts'
import { TrafficHistory } from './traffic-history.ts'

const PLACE = { bind: '80', gateway: 'infra/edge', listener: 'http', route: 'shop/cart', route_rule: 'unknown' }
const INTERVALS_MAX = 240

let aggregate: MetricsAggregate
let history: TrafficHistory
let buffer: SharedArrayBuffer
let table: SeriesTable

beforeEach(() => {
  aggregate = new MetricsAggregate()
  history = new TrafficHistory(aggregate)
  buffer = createMetricsBuffer()
  table = new SeriesTable(buffer)
  aggregate.attach(buffer)
})

afterEach(() => history.close())

function add(family: Family, labels: Readonly<Record<string, string>>, slot: number, count: number): void {
  addCount(table, { family, labels, slot }, count)
}

/** `bucket`: of the latency. */
function requests(status: string, count: number, bucket = 0, place: Partial<typeof PLACE> = {}): void {
  const labels = { ...PLACE, ...place, status }
  add(EXCHANGE, labels, 0, count)
  add(EXCHANGE, labels, (EXCHANGE.offsets[1] ?? 0) + bucket, count)
}

describe('TrafficHistory', () => {
  it('is empty before the first interval has ended', () => {
    requests('200', 3)
    expect(history.shown([])).toMatchObject({ requests: [], latencyP50: [], listeners: [], cost: [] })
  })

  it('has what each interval gained, with responses by class', () => {
    requests('200', 3)
    requests('404', 2)
    history.sample()
    history.sample()
    requests('200', 1, 5)
    requests('503', 4, 5)
    requests('unknown', 1, 5)
    history.sample()
    const { latencyP50, ...shown } = history.shown([])
    expect(shown).toMatchObject({ requests: [5, 0, 6], clientErrors: [2, 0, 0], serverErrors: [0, 0, 4] })
    expect(latencyP50[0]).toBeCloseTo(0.0005)
    expect(latencyP50[1]).toBeNull()
    expect(latencyP50[2]).toBeCloseTo(0.075)
  })

  it('keeps the counts of a worker that died', () => {
    requests('200', 3)
    history.sample()
    aggregate.detach(buffer)
    history.sample()
    expect(history.shown([]).requests).toEqual([3, 0])
  })

  it('keeps one hour', () => {
    requests('200', 7)
    for (let i = 0; i < INTERVALS_MAX; i++) history.sample()
    expect(history.shown([]).requests).toHaveLength(INTERVALS_MAX)
    expect(history.shown([]).requests[0]).toBe(7)
    history.sample()
    expect(history.shown([]).requests).toEqual(Array.from({ length: INTERVALS_MAX }, () => 0))
  })

  it('adds up five minutes for each listener', () => {
    requests('200', 2)
    history.sample()
    requests('500', 1, 0, { listener: 'https' })
    history.sample()
    const [http, https] = history.shown([]).listeners
    expect(http).toMatchObject({ bind: '80', gateway: 'infra/edge', listener: 'http', requests: 2, serverErrors: 0 })
    expect(https).toMatchObject({ listener: 'https', requests: 1, serverErrors: 1 })
    for (let i = 0; i < 19; i++) history.sample()
    expect(history.shown([]).listeners.map((one) => one.requests)).toEqual([0, 1])
  })

  it('counts listeners beyond the limit in the totals only', () => {
    for (let i = 0; i < 101; i++) requests('200', 1, 0, { listener: `l${i}` })
    history.sample()
    expect([history.shown([]).requests, history.shown([]).listeners.length]).toEqual([[101], 100])
  })

  it('has tokens and cost, and the use of each model since the start', () => {
    const model = (name: string) => ({ ...PLACE, gen_ai_system: 'openai', gen_ai_request_model: name })
    const sumAt = GEN_AI_TOKENS.slots - 1
    add(GEN_AI_TOKENS, { ...model('small'), gen_ai_token_type: 'input' }, sumAt, 100)
    add(GEN_AI_TOKENS, { ...model('small'), gen_ai_token_type: 'output' }, sumAt, 20)
    add(GEN_AI_TOKENS, { ...model('small'), gen_ai_token_type: 'input_cache_read' }, sumAt, 50)
    add(GEN_AI_DURATION, model('small'), 2, 1)
    add(GEN_AI_COST, model('large'), 0, 0.25)
    history.sample()
    const { inputTokens, outputTokens, cost, models } = history.shown([])
    expect({ inputTokens, outputTokens, cost }).toEqual({ inputTokens: [100], outputTokens: [20], cost: [0.25] })
    const common = { provider: 'openai', served: 'unknown', route: 'shop/cart' }
    expect(models).toEqual([
      { ...common, requested: 'large', requests: 0, inputTokens: 0, outputTokens: 0, cost: 0.25 },
      { ...common, requested: 'small', requests: 1, inputTokens: 100, outputTokens: 20, cost: 0 },
    ])
  })

  it('has connections and requests of the workers in use', () => {
    table.setGauge('openConnections', 3)
    table.setGauge('activeRequests', 2)
    expect(history.shown([buffer])).toMatchObject({ openConnections: 3, activeRequests: 2 })
  })

  it('needs the labels that metrics have', () => {
    for (const family of [EXCHANGE, GEN_AI_TOKENS, GEN_AI_COST]) {
      expect(family.labels).toEqual(expect.arrayContaining([...ROUTE_LABELS]))
    }
  })
})
