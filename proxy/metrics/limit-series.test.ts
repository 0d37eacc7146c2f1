import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LimitCall, type LimitState, noteLimitCall } from '../exchange/limit-calls.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { MetricsAggregate } from './aggregate.ts'
import { createMetricsBuffer, SeriesTable } from './buffer.ts'
import type { Family } from './family.ts'
import { LIMIT_CALLS, LIMIT_STATE } from './internal-families.ts'
import { LimitSeries } from './limit-series.ts'

const STATES_MAX = 300
const START_MS = 1_000_000
const STATE: LimitState = {
  descriptor: 1,
  entries: 'key=ann',
  capacity: 10,
  unit: 4,
  remaining: 7,
  resetSeconds: 9,
}

let aggregate: MetricsAggregate

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
  aggregate = new MetricsAggregate()
})

afterEach(() => vi.useRealTimers())

interface Worker {
  readonly buffer: SharedArrayBuffer
  readonly series: LimitSeries
}

function worker(): Worker {
  const buffer = createMetricsBuffer()
  aggregate.attach(buffer)
  return { buffer, series: new LimitSeries(new SeriesTable(buffer)) }
}

function add({ series }: Worker, limit: string, call: LimitCall): void {
  const exchange = { policyState: undefined } as unknown as Exchange // what the calls are noted in
  noteLimitCall(exchange, limit, call)
  series.add(exchange)
}

function rowsOf(family: Family): unknown[][] {
  aggregate.refresh()
  return aggregate.series(family).map(({ labels, totals }) => [...Object.values(labels), ...totals])
}

describe('LimitSeries', () => {
  it('counts the decisions of all workers by limit', () => {
    const [one, other] = [worker(), worker()]
    for (const result of ['allowed', 'allowed', 'rejected', 'failed'] as const) add(one, 'a', { result, states: [] })
    add(other, 'a', { result: 'allowed', states: [] })
    add(other, 'b', { result: 'rejected', states: [] })
    expect(rowsOf(LIMIT_CALLS)).toEqual([
      ['a', 3, 1, 1],
      ['b', 0, 1, 0],
    ])
  })

  it('has the last report of all workers, also of dead ones', () => {
    const [one, other] = [worker(), worker()]
    add(one, 'a', { result: 'allowed', states: [STATE] })
    vi.setSystemTime(START_MS + 1000)
    add(other, 'a', { result: 'allowed', states: [{ ...STATE, remaining: 5, resetSeconds: 0 }] })
    const last = ['a', '1', 'key=ann', START_MS + 1000, 10, 4, 5, 0]
    expect(rowsOf(LIMIT_STATE)).toEqual([last])
    expect(rowsOf(LIMIT_STATE)).toEqual([last])
    aggregate.detach(other.buffer)
    expect(rowsOf(LIMIT_STATE)).toEqual([last])
    vi.setSystemTime(START_MS + 2000)
    add(one, 'a', { result: 'rejected', states: [{ ...STATE, remaining: 0 }] })
    expect(rowsOf(LIMIT_STATE)).toEqual([['a', '1', 'key=ann', START_MS + 2000, 10, 4, 0, START_MS + 11_000]])
  })

  it('keeps the first values only, which is no overflow of metrics', () => {
    const one = worker()
    const state = (i: number): LimitState => ({ ...STATE, entries: `key=${i}` })
    for (let i = 0; i < STATES_MAX + 5; i++) add(one, 'a', { result: 'allowed', states: [state(i)] })
    add(one, 'a', { result: 'allowed', states: [{ ...state(3), remaining: 1 }] })
    const rows = rowsOf(LIMIT_STATE)
    expect([rows.length, rows[3]?.[6]]).toEqual([STATES_MAX, 1])
    expect(aggregate.overflows).toBe(0)
  })
})
