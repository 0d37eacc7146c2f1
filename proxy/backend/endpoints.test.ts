import { describe, expect, it } from 'vitest'
import type { UpstreamTarget } from '../upstream/target.ts'
import { EndpointTable, LiveEndpoint, powerOfTwoPicker } from './endpoints.ts'

const target = (port: number): UpstreamTarget => ({
  key: `10.0.0.1:${port}`,
  host: '10.0.0.1',
  port,
  unixPath: undefined,
  tls: undefined,
  connectTimeoutMs: 1000,
})

describe('LiveEndpoint', () => {
  it('moves health by 0.3 of each sample and latency only on success', () => {
    const endpoint = new LiveEndpoint(target(1), 'a')
    endpoint.begin()
    endpoint.end(500, false)
    expect(endpoint.health).toBeCloseTo(0.7)
    expect(endpoint.latencySeconds).toBe(0)
    expect(endpoint.consecutiveFailures).toBe(1)
    endpoint.begin()
    endpoint.end(200, true)
    expect(endpoint.health).toBeCloseTo(0.79)
    expect(endpoint.latencySeconds).toBeCloseTo(0.2)
    expect(endpoint.consecutiveFailures).toBe(0)
    endpoint.begin()
    endpoint.end(1200, true)
    expect(endpoint.latencySeconds).toBeCloseTo(0.2 * 0.7 + 1.2 * 0.3)
    expect(endpoint.pendingRequests).toBe(0)
    expect(endpoint.totalRequests).toBe(3)
  })

  it('writes IPv6 addresses in brackets', () => {
    expect(new LiveEndpoint({ ...target(80), host: '::1' }, 'a').label).toBe('[::1]:80')
  })
})

describe('powerOfTwoPicker', () => {
  it('takes the better score of two picks', () => {
    const good = new LiveEndpoint(target(1), 'a')
    const bad = new LiveEndpoint(target(2), 'a')
    bad.begin()
    bad.end(1, false)
    const picks = [0, 0.99, 0.99, 0]
    let at = 0
    const picker = powerOfTwoPicker([good, bad], false, () => picks[at++] ?? 0)
    expect(picker.pick()).toBe(good)
    expect(picker.pick()).toBe(good)
  })

  it('gives nothing when there is no endpoint', () => {
    expect(powerOfTwoPicker([], false).pick()).toBeUndefined()
  })
})

describe('EndpointTable', () => {
  it('keeps counters over one reload and forgets endpoints that were gone in between', () => {
    const first = new EndpointTable(undefined)
    const endpoint = first.endpoint('ns/b', target(1), 'a')
    endpoint.begin()
    const second = new EndpointTable(first)
    expect(second.endpoint('ns/b', target(1), 'a')).toBe(endpoint)
    expect(second.endpoint('ns/other', target(1), 'a')).not.toBe(endpoint)
    const third = new EndpointTable(new EndpointTable(second))
    expect(third.endpoint('ns/b', target(1), 'a')).not.toBe(endpoint)
  })
})
