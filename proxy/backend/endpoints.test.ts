import { describe, expect, it } from 'vitest'
import type { UpstreamTarget } from '../upstream/target.ts'
import { EndpointStore } from './endpoint-store.ts'
import { powerOfTwoPicker } from './endpoint-picker.ts'
import { endpointKey, EndpointTable, LiveEndpoint } from './endpoints.ts'

const target = (port: number): UpstreamTarget => ({
  key: `10.0.0.1:${port}`,
  host: '10.0.0.1',
  port,
  unixPath: undefined,
  tls: undefined,
  connectTimeoutMs: 1000,
})
const MINUTE_MS = 60_000

function endpoints(count: number): LiveEndpoint[] {
  return Array.from({ length: count }, (_, i) => new LiveEndpoint(target(i + 1), 'a'))
}

/** Returns the numbers in turn, repeatedly. */
function cycling(...values: number[]): () => number {
  let at = 0
  return () => values[at++ % values.length] ?? 0
}

describe('LiveEndpoint', () => {
  it('moves health by 0.3 of each sample and latency only on success', () => {
    const endpoint = new LiveEndpoint(target(1), 'a')
    const { state } = endpoint
    endpoint.begin()
    endpoint.end(500, false)
    expect(state.health).toBeCloseTo(0.7)
    expect(state.latencySeconds).toBe(0)
    expect(state.consecutiveFailures).toBe(1)
    endpoint.begin()
    endpoint.end(200, true)
    expect(state.health).toBeCloseTo(0.79)
    expect(state.latencySeconds).toBeCloseTo(0.2)
    expect(state.consecutiveFailures).toBe(0)
    endpoint.begin()
    endpoint.end(1200, true)
    expect(state.latencySeconds).toBeCloseTo(0.5)
    expect(state.pendingRequests).toBe(0)
    expect(state.totalRequests).toBe(3)
    expect(endpoint.score).toBeCloseTo(state.health / 1.5)
    endpoint.begin()
    expect(endpoint.score).toBeCloseTo(state.health / (1 + 0.5 * 1.1))
  })

  it('has brackets around IPv6 in its name', () => {
    expect(new LiveEndpoint({ ...target(80), host: '::1' }, 'a').label).toBe('[::1]:80')
  })
})

describe('powerOfTwoPicker', () => {
  it('takes the better score of two picks', () => {
    const [good, bad] = endpoints(2)
    bad?.end(1, false)
    const picker = powerOfTwoPicker(
      [good, bad].filter((one) => one !== undefined),
      false,
      cycling(0, 0.99, 0.99, 0),
    )
    expect(picker.pick()).toBe(good)
    expect(picker.pick()).toBe(good)
  })

  it('returns nothing without an endpoint', () => {
    const picker = powerOfTwoPicker([], false)
    expect(picker.pick()).toBeUndefined()
    expect(picker.hasActive()).toBe(false)
  })

  it('never selects an evicted endpoint while another is available', () => {
    const all = endpoints(3)
    for (const evicted of all.slice(0, 2)) evicted.state.evict(MINUTE_MS, MINUTE_MS, undefined)
    const picker = powerOfTwoPicker(all, false, () => 0)
    expect(picker.pick()).toBe(all[2])
    expect(picker.hasActive()).toBe(true)
  })

  it.each([1, 3])('falls back to evicted endpoints when all %i are evicted', (count) => {
    const all = endpoints(count)
    for (const { state } of all) expect(state.evict(MINUTE_MS, MINUTE_MS, undefined)).toBe(true)
    const picker = powerOfTwoPicker(all, false, () => 0)
    expect(picker.hasActive()).toBe(false)
    expect(picker.pick()).toBe(all[0])
    expect(all[0]?.state.isEvicted).toBe(true)
  })

  it('finds pinned endpoints, evicted or not', () => {
    const all = endpoints(2)
    all[1]?.state.evict(MINUTE_MS, MINUTE_MS, undefined)
    const picker = powerOfTwoPicker(all, false)
    expect(picker.find('10.0.0.1:2')).toBe(all[1])
    expect(picker.find('10.0.0.1:9')).toBeUndefined()
  })
})

describe('EndpointTable', () => {
  it('returns one state to users of an address, and another one to another owner', () => {
    const table = new EndpointTable(EndpointStore.local())
    const plain = table.endpoint('ns/b', target(1), 'a')
    const secure = table.endpoint('ns/b', { ...target(1), key: '10.0.0.1:1|tls' }, 'a')
    const other = table.endpoint('ns/other', target(1), 'a')
    expect(table.endpoint('ns/b', target(1), 'a')).toBe(plain)
    expect(secure).not.toBe(plain)
    plain.end(1, false)
    expect(secure.state.consecutiveFailures).toBe(1)
    expect(other.state.consecutiveFailures).toBe(0)
    expect(endpointKey('ns/b', target(1))).toBe('ns/b|10.0.0.1:1')
  })
})
