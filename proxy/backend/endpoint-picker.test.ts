import { describe, expect, it } from 'vitest'
import { endpointPicker, type Candidate } from './endpoint-picker.ts'
import { LiveEndpoint } from './endpoints.ts'

const MINUTE_MS = 60_000

function candidate(port: number, rank: number | undefined, capacity = 1): Candidate {
  const target = { key: String(port), host: 'h', port, unixPath: undefined, tls: undefined, connectTimeoutMs: 1 }
  return { endpoint: new LiveEndpoint(target, 'a'), rank, capacity }
}

function evict(...candidates: readonly Candidate[]): void {
  for (const { endpoint } of candidates) endpoint.state.evict(MINUTE_MS, MINUTE_MS, undefined)
}

/** Ports that come up when the dice show everything. */
function picked(candidates: readonly Candidate[]): number[] {
  const ports = new Set<number>()
  for (let first = 0; first < 20; first++) {
    for (let second = 0; second < 20; second++) {
      const dice = [first / 20, second / 20]
      let at = 0
      const random = (): number => dice[at++ % 2] ?? 0
      const endpoint = endpointPicker(candidates, { isHostname: false, random }).pick()
      if (endpoint !== undefined) ports.add(endpoint.target.port)
    }
  }
  return [...ports].sort((a, b) => a - b)
}

describe('endpointPicker', () => {
  it('selects the nearest bucket, whatever the scores', () => {
    const near = candidate(1, 1)
    for (let i = 0; i < 5; i++) near.endpoint.end(1, false)
    expect(picked([candidate(3, 2), near, candidate(2, 2)])).toEqual([1])
  })

  it('goes to the next bucket when all of one are evicted, and back to the nearest when all are', () => {
    const all = [candidate(1, 0), candidate(2, 0), candidate(3, 1), candidate(4, 2)]
    const [a, b, c, d] = all
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four')
    evict(a)
    expect(picked(all)).toEqual([2])
    evict(b)
    expect(picked(all)).toEqual([3])
    evict(c)
    expect(picked(all)).toEqual([4])
    expect(endpointPicker(all, { isHostname: false }).hasActive()).toBe(true)
    evict(d)
    expect(picked(all)).toEqual([1, 2])
    expect(endpointPicker(all, { isHostname: false }).hasActive()).toBe(false)
  })

  it('never picks an endpoint that is too far away or has no capacity, but finds it by name', () => {
    const all = [candidate(1, undefined), candidate(2, 0, 0), candidate(3, 1)]
    const picker = endpointPicker(all, { isHostname: false })
    expect(picked(all)).toEqual([3])
    evict(...all.slice(2))
    expect(picked(all)).toEqual([3])
    expect(picker.hasActive()).toBe(false)
    expect(picker.find('h:1')).toBe(all[0]?.endpoint)
    expect(picker.find('h:2')).toBe(all[1]?.endpoint)
  })

  it('picks none if all are too far away', () => {
    const picker = endpointPicker([candidate(1, undefined), candidate(2, 0, 0)], { isHostname: false })
    expect(picker.pick()).toBeUndefined()
    expect(picker.hasActive()).toBe(false)
  })

  it.each([
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
    [
      [5, 5],
      [1, 1],
    ],
    [
      [1, 3],
      [1, 3],
    ],
    [
      [7, 2, 1],
      [7, 2, 1],
    ],
    [
      [1_000_000, 1],
      [1_000_000, 1],
    ],
  ])('draws by capacity: %j', (capacities, weights) => {
    // The first of two draws wins where scores are the same: its share is exact over an even grid of numbers.
    const all = capacities.map((capacity, index) => candidate(index + 1, 0, capacity))
    const whole = weights.reduce((sum, weight) => sum + weight)
    const grid = Math.min(whole, 1000)
    const counts = weights.map(() => 0)
    for (let i = 0; i < grid; i++) {
      const { port } = endpointPicker(all, { isHostname: false, random: () => (i + 0.5) / grid }).pick()?.target ?? {
        port: 0,
      }
      counts[port - 1] = (counts[port - 1] ?? 0) + 1
    }
    for (const [index, weight] of weights.entries()) expect(counts[index]).toBe(Math.round((weight / whole) * grid))
  })
})
