// From counts of workers in shared memory to the answer of `/model_usage`.
import { beforeEach, describe, expect, it } from 'vitest'
import { MetricsAggregate } from '../metrics/aggregate.ts'
import { SeriesTable, createMetricsBuffer } from '../metrics/buffer.ts'
import { GEN_AI_COST, GEN_AI_DURATION, GEN_AI_TOKENS } from '../metrics/families.ts'
import type { Family } from '../metrics/family.ts'
import { GEN_AI_CLIENT } from '../metrics/internal-families.ts'
import { addCount } from '#proxy/admin/counts.testing.ts'
import { ModelUsage } from './model-usage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Nine minutes past a quarter of an hour. */
const START_MS = Date.parse('2026-12-01T09:24:00Z')
const NOTHING = { requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 }

let aggregate: MetricsAggregate
let buffer: SharedArrayBuffer
let table: SeriesTable
let usage: ModelUsage

beforeEach(() => {
  aggregate = new MetricsAggregate()
  buffer = createMetricsBuffer()
  table = new SeriesTable(buffer)
  aggregate.attach(buffer)
  usage = new ModelUsage(aggregate, START_MS)
})

function add(family: Family, labels: Readonly<Record<string, string>>, slot: number, count: number): void {
  addCount(table, { family, labels, slot }, count)
}

interface Place {
  readonly gateway?: string
  readonly route?: string
}

/** Ten input tokens, four output tokens and a quarter of a dollar each. */
function requests(count: number, { gateway = 'infra/edge', route = 'shop/llm' }: Place = {}): void {
  const labels = { gateway, route }
  add(GEN_AI_DURATION, labels, 3, count)
  const sumAt = GEN_AI_TOKENS.slots - 1
  add(GEN_AI_TOKENS, { ...labels, gen_ai_token_type: 'input' }, sumAt, 10 * count)
  add(GEN_AI_TOKENS, { ...labels, gen_ai_token_type: 'input_cache_read' }, sumAt, 3 * count)
  add(GEN_AI_TOKENS, { ...labels, gen_ai_token_type: 'output' }, sumAt, 4 * count)
  add(GEN_AI_COST, labels, 0, 0.25 * count)
}

function client(kind: string, name: string, cost: number): void {
  const counts = [1, 10, 4, cost]
  counts.forEach((count, slot) => add(GEN_AI_CLIENT, { client_kind: kind, client_name: name }, slot, count))
}

function shown(nowMs: number, since?: string): ReturnType<ModelUsage['shown']> {
  aggregate.refresh()
  return usage.shown(nowMs, since === undefined ? undefined : Date.parse(since))
}

/** Every 15 seconds, as the process does. */
function pass(fromMs: number, toMs: number): void {
  for (let at = fromMs; at <= toMs; at += 15_000) {
    aggregate.refresh()
    usage.advance(at)
  }
}

describe('ModelUsage', () => {
  it('is empty without requests to models', () => {
    expect(shown(START_MS)).toEqual({
      since: '2026-12-01T09:24:00.000Z',
      isSinceStart: true,
      total: NOTHING,
      gateways: [],
      routes: [],
      clients: [],
      others: { gateways: NOTHING, routes: NOTHING, clients: NOTHING },
    })
  })

  it('counts gateways, routes and clients since the start, the most expensive first', () => {
    requests(1)
    requests(2, { route: 'shop/chat' })
    requests(4, { gateway: 'infra/inner', route: 'shop/chat' })
    client('apiKey', 'ann', 0.5)
    client('jwt', 'ann', 0.75)
    client('none', '', 0)
    const { total, gateways, routes, clients } = shown(START_MS)
    expect(total).toEqual({ requests: 7, inputTokens: 70, outputTokens: 28, cost: 1.75 })
    expect(gateways).toMatchObject([
      { gateway: 'infra/inner', requests: 4 },
      { gateway: 'infra/edge', requests: 3, inputTokens: 30, outputTokens: 12, cost: 0.75 },
    ])
    expect(routes).toMatchObject([
      { route: 'shop/chat', requests: 6 },
      { route: 'shop/llm', requests: 1 },
    ])
    expect(clients).toEqual([
      { kind: 'jwt', name: 'ann', requests: 1, inputTokens: 10, outputTokens: 4, cost: 0.75 },
      { kind: 'apiKey', name: 'ann', requests: 1, inputTokens: 10, outputTokens: 4, cost: 0.5 },
      { kind: 'none', name: '', requests: 1, inputTokens: 10, outputTokens: 4, cost: 0 },
    ])
  })

  it('counts from a quarter of an hour on', () => {
    requests(1)
    pass(START_MS, START_MS + HOUR_MS)
    requests(2, { route: 'shop/chat' })
    client('apiKey', 'ann', 0.5)
    const nowMs = Date.parse('2026-12-01T10:31:00Z')
    pass(START_MS + HOUR_MS, nowMs)
    expect(shown(nowMs, '2026-12-01T11:15:00+01:00')).toMatchObject({
      since: '2026-12-01T10:15:00.000Z',
      isSinceStart: false,
      total: { requests: 2, cost: 0.5 },
      routes: [{ route: 'shop/chat', requests: 2, inputTokens: 20 }],
      clients: [{ name: 'ann', requests: 1, cost: 0.5 }],
    })
    expect(shown(nowMs, '2026-12-01T10:29:59Z')).toMatchObject({
      since: '2026-12-01T10:15:00.000Z',
      total: { requests: 2 },
    })
    expect(shown(nowMs, '2026-12-01T10:30:00Z').total).toEqual(NOTHING)
  })

  it('counts what has happened since the last sample', () => {
    pass(START_MS, START_MS + HOUR_MS)
    requests(3)
    expect(shown(START_MS + HOUR_MS + 5000, '2026-12-01T10:15:00Z').total).toMatchObject({ requests: 3 })
  })

  it('counts since the start of the process if that is later', () => {
    requests(1)
    expect(shown(START_MS + 1000, '2026-12-01T00:00:00Z')).toMatchObject({
      since: '2026-12-01T09:24:00.000Z',
      isSinceStart: true,
      total: { requests: 1 },
    })
  })

  it('keeps 48 hours', () => {
    requests(1)
    pass(START_MS, START_MS + MINUTE_MS)
    requests(2)
    const laterMs = START_MS + 47 * HOUR_MS
    pass(START_MS + HOUR_MS, laterMs)
    expect(shown(laterMs, '2026-12-01T09:30:00Z').total.requests).toBe(2)
    const nextMs = START_MS + 60 * HOUR_MS
    expect(shown(nextMs, '2026-12-01T09:30:00Z')).toMatchObject({
      since: new Date(Math.floor(nextMs / (15 * MINUTE_MS)) * 15 * MINUTE_MS - 191 * 15 * MINUTE_MS).toISOString(),
      total: { requests: 0 },
    })
    expect(shown(nextMs).total.requests).toBe(3)
  })

  it('forgets all points after a pause of more than 48 hours', () => {
    requests(1)
    pass(START_MS, START_MS)
    const laterMs = START_MS + 100 * HOUR_MS
    expect(shown(laterMs, new Date(laterMs - 47 * HOUR_MS).toISOString()).total).toEqual(NOTHING)
  })

  it('counts in the current point while the clock goes back', () => {
    pass(START_MS, START_MS + HOUR_MS)
    requests(1)
    pass(START_MS, START_MS + MINUTE_MS)
    requests(2)
    expect(shown(START_MS + HOUR_MS, '2026-12-01T10:15:00Z').total.requests).toBe(3)
  })

  it('keeps the counts of a worker that died', () => {
    requests(1)
    client('apiKey', 'ann', 0.5)
    pass(START_MS, START_MS)
    aggregate.detach(buffer)
    expect(shown(START_MS + 1000)).toMatchObject({ total: { requests: 1 }, clients: [{ name: 'ann', cost: 0.5 }] })
  })

  it('adds up the clients of all workers', () => {
    client('apiKey', 'ann', 0.5)
    const other = createMetricsBuffer()
    aggregate.attach(other)
    table = new SeriesTable(other)
    client('apiKey', 'ann', 0.25)
    expect(shown(START_MS).clients).toMatchObject([{ name: 'ann', requests: 2, cost: 0.75 }])
  })

  it('counts those beyond the limits together', () => {
    for (let i = 0; i < 202; i++) requests(1, { route: `shop/r${i}`, gateway: `infra/g${i}` })
    for (let i = 0; i < 300; i++) client('jwt', `user ${i}`, 1)
    client('overflow', 'overflow', 5)
    const { gateways, routes, clients, others } = shown(START_MS)
    expect([gateways.length, routes.length, clients.length]).toEqual([100, 200, 300])
    expect(others).toMatchObject({ gateways: { requests: 102 }, routes: { requests: 2 }, clients: { cost: 5 } })
  })
})
