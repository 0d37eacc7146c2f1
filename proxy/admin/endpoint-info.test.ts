import { describe, expect, it } from 'vitest'
import type { EndpointFigures } from '../backend/endpoint-store.ts'
import { endpointInfo } from './endpoint-info.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')
const FINE: EndpointFigures = {
  health: 1,
  latencySeconds: 0.012_345_678,
  pendingRequests: 2,
  totalRequests: 10,
  consecutiveFailures: 0,
  timesEjected: 0,
  evictedForMs: undefined,
  evictions: 0,
  lastEviction: undefined,
}
const EVICTED: EndpointFigures = {
  health: 0.490_000_000_1,
  latencySeconds: 0.5,
  pendingRequests: 1,
  totalRequests: 5,
  consecutiveFailures: 2,
  timesEjected: 1,
  evictedForMs: 1500,
  evictions: 3,
  lastEviction: { atMs: NOW_MS - 2000, rule: 'consecutiveFailures', failures: 2, outcome: 'status', status: 503 },
}

describe('endpointInfo', () => {
  it('shows one endpoint', () => {
    expect(endpointInfo([FINE], NOW_MS).info).toEqual({
      health: 1,
      requestLatency: 0.012346,
      pendingRequests: 2,
      totalRequests: 10,
      consecutiveFailures: 0,
      timesEjected: 0,
      evictions: 0,
      lastEviction: null,
      evictedUntil: null,
    })
  })

  it.each([
    ['first', [EVICTED, FINE]],
    ['last', [FINE, EVICTED]],
  ])('adds up counts of several ports and takes the worst of the rest, the bad one %s', (_, figures) => {
    expect(endpointInfo(figures, NOW_MS).info).toEqual({
      health: 0.49,
      requestLatency: 0.5,
      pendingRequests: 3,
      totalRequests: 15,
      consecutiveFailures: 2,
      timesEjected: 1,
      evictions: 3,
      lastEviction: { time: '2025-12-31T23:59:58.000Z', rule: 'consecutiveFailures', failures: 2, status: 503 },
      evictedUntil: '2026-01-01T00:00:01.500Z',
    })
  })

  it('is left out where nothing is known', () => {
    expect(endpointInfo([], NOW_MS)).toEqual({})
  })
})
