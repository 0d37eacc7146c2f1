// The picker against a naive model: sort the active endpoints out first, then draw two of them.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LiveEndpoint, powerOfTwoPicker } from './endpoints.ts'

const DRAWS = 4000
const MINUTE_MS = 60_000

interface Shape {
  readonly failures: number
  readonly isEvicted: boolean
}

const shapes = fc.array(fc.record({ failures: fc.nat({ max: 4 }), isEvicted: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
})

function endpointOf({ failures, isEvicted }: Shape, index: number): LiveEndpoint {
  const endpoint = new LiveEndpoint(
    { key: String(index), host: 'h', port: index + 1, unixPath: undefined, tls: undefined, connectTimeoutMs: 1 },
    'a',
  )
  for (let i = 0; i < failures; i++) {
    endpoint.begin()
    endpoint.end(1, false)
  }
  if (isEvicted) endpoint.state.evict(MINUTE_MS, MINUTE_MS, undefined)
  return endpoint
}

/** Chance of each endpoint, exactly. */
function naiveOdds(endpoints: readonly LiveEndpoint[]): Map<LiveEndpoint, number> {
  const active = endpoints.filter(({ state }) => !state.isEvicted)
  const drawn = active.length === 0 ? endpoints : active
  const odds = new Map(endpoints.map((endpoint) => [endpoint, 0]))
  for (const first of drawn) {
    for (const second of drawn) {
      const chosen = second.score > first.score ? second : first
      odds.set(chosen, (odds.get(chosen) ?? 0) + 1 / drawn.length ** 2)
    }
  }
  return odds
}

/** Mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

describe('powerOfTwoPicker', () => {
  it('has the odds of the naive model', () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (list, seed) => {
        const endpoints = list.map(endpointOf)
        const picker = powerOfTwoPicker(endpoints, false, seeded(seed))
        const counts = new Map<unknown, number>()
        for (let i = 0; i < DRAWS; i++) {
          const picked = picker.pick()
          counts.set(picked, (counts.get(picked) ?? 0) + 1)
        }
        for (const [endpoint, odds] of naiveOdds(endpoints)) {
          const share = (counts.get(endpoint) ?? 0) / DRAWS
          // Six standard deviations; impossible and certain choices must be exact.
          const tolerance = 6 * Math.sqrt((odds * (1 - odds)) / DRAWS)
          expect(Math.abs(share - odds)).toBeLessThanOrEqual(tolerance + 1e-12)
        }
      }),
      { numRuns: 60, seed: 20_261_121 },
    )
  })

  it('always picks one that is there', () => {
    fc.assert(
      fc.property(
        shapes,
        fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { minLength: 1 }),
        (list, dice) => {
          const endpoints = list.map(endpointOf)
          let at = 0
          const picked = powerOfTwoPicker(endpoints, false, () => dice[at++ % dice.length] ?? 0).pick()
          expect(endpoints).toContain(picked)
          const isAnyActive = endpoints.some(({ state }) => !state.isEvicted)
          expect(endpoints.find((one) => one === picked)?.state.isEvicted).toBe(!isAnyActive)
        },
      ),
    )
  })
})
