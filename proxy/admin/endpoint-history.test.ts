import { afterEach, describe, expect, it } from 'vitest'
import { EndpointPlaces } from '../backend/endpoint-places.ts'
import { type EndpointState, EndpointStore } from '../backend/endpoint-store.ts'
import { EndpointHistory } from './endpoint-history.ts'

const MINUTE_MS = 60_000
const KEEP_MS = 60 * MINUTE_MS
const histories: EndpointHistory[] = []

afterEach(() => {
  for (const history of histories.splice(0)) history.close()
})

interface Hour {
  readonly history: EndpointHistory
  readonly state: (key: string) => EndpointState
  /** Ends a sample `ms` later. */
  readonly pass: (ms: number) => void
  readonly change: (change: { come?: string[]; gone?: string[] }) => void
}

function hourOf(keys: readonly string[]): Hour {
  let places = EndpointPlaces.of(keys, 1)
  let now = 5 * MINUTE_MS
  const history = new EndpointHistory({ memory: () => places.shared, nowMs: () => now })
  histories.push(history)
  return {
    history,
    state: (key) => new EndpointStore(places.shared, 0).state(key),
    pass: (ms) => {
      now += ms
      history.sample()
    },
    change: ({ come = [], gone = [] }) => (places = places.after({ come, gone })),
  }
}

function succeed(state: EndpointState): void {
  state.begin()
  state.succeeded(20)
}

function fail(state: EndpointState): void {
  state.begin()
  state.failed()
}

describe('EndpointHistory', () => {
  it('has a point for each minute: lowest health, latency, requests, share of evictions', () => {
    const { history, state, pass } = hourOf(['a', 'unused'])
    succeed(state('a'))
    pass(0)
    fail(state('a'))
    succeed(state('a'))
    pass(15_000)
    state('a').evict(0, KEEP_MS, 1)
    pass(15_000)
    pass(MINUTE_MS)
    pass(MINUTE_MS)
    succeed(state('a'))
    pass(0)
    expect([...history.shown()]).toEqual([
      ['a', { health: [0.79, 1, 1], latency: [0.02, null, 0.02], requests: [3, 0, 1], evicted: [0.33, 0, 0] }],
    ])
  })

  it('has gaps for minutes without a sample', () => {
    const { history, state, pass } = hourOf(['a'])
    succeed(state('a'))
    pass(0)
    pass(3 * MINUTE_MS)
    expect(history.shown().get('a')?.health).toEqual([1, null, null, 1])
  })

  it('keeps an hour', () => {
    const { history, state, pass } = hourOf(['a'])
    for (let minute = 0; minute < 100; minute++) {
      if (minute === 50) fail(state('a'))
      succeed(state('a'))
      pass(MINUTE_MS)
    }
    const { health = [], requests = [] } = history.shown().get('a') ?? {}
    expect([health.length, requests.length]).toEqual([60, 60])
    expect(health.indexOf(Math.min(...health.map((value) => value ?? 1)))).toBe(10)
    expect(requests.reduce((sum, count) => sum + count, 0)).toBe(61)
  })

  it('forgets endpoints that are gone, and those without a request for an hour', () => {
    const { history, state, pass, change } = hourOf(['a', 'b'])
    succeed(state('a'))
    succeed(state('b'))
    pass(0)
    expect([...history.shown().keys()]).toEqual(['a', 'b'])
    change({ gone: ['a'], come: ['c'] })
    pass(15_000)
    expect([...history.shown().keys()]).toEqual(['b'])
    succeed(state('c'))
    pass(59 * MINUTE_MS)
    pass(MINUTE_MS)
    expect([...history.shown().keys()]).toEqual(['c'])
  })

  it('keeps at most 200 of 20,000 endpoints, and those with failures first', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `e${i}`)
    const { history, state, pass } = hourOf(keys)
    for (const key of keys) succeed(state(key))
    pass(0)
    expect(history.shown().size).toBe(200)
    fail(state('e0'))
    for (const key of ['e19000', 'e19001']) fail(state(key))
    pass(MINUTE_MS)
    const kept = history.shown()
    expect([kept.size, kept.has('e0'), kept.has('e19000'), kept.has('e19001')]).toEqual([200, true, true, true])
    // Of the requests before it was kept, none is counted for this minute.
    expect(kept.get('e19000')?.requests).toEqual([0, 1])
    expect(kept.get('e19000')?.health).toEqual([null, 0.7])
    for (const key of keys.slice(5000, 5300)) fail(state(key))
    pass(0)
    // All places are taken by endpoints with failures: no place is free for another.
    const full = new Set(history.shown().keys())
    for (const key of keys.slice(6000, 6010)) fail(state(key))
    pass(15_000)
    expect(new Set(history.shown().keys())).toEqual(full)
  })

  it('is empty without a configuration', () => {
    const history = new EndpointHistory({ memory: () => undefined })
    histories.push(history)
    history.sample()
    expect(history.shown().size).toBe(0)
  })
})
