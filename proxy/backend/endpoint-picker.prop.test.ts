// The picker against a naive model: sort the nearest active endpoints out first, then draw two of them by capacity.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomOf } from '#test/random.ts'
import { runs } from '#test/run/runs.ts'
import { endpointPicker, type Candidate } from './endpoint-picker.ts'
import { LiveEndpoint } from './endpoints.ts'

const DRAWS = 4000
const MINUTE_MS = 60_000

interface Shape {
  readonly failures: number
  readonly isEvicted: boolean
  readonly rank: number | undefined
  readonly capacity: number
}

const alike = { failures: fc.nat({ max: 4 }), isEvicted: fc.boolean(), rank: fc.constant(0), capacity: fc.constant(1) }
const several = { ...alike, rank: fc.constantFrom(0, 1, 3, undefined), capacity: fc.nat({ max: 4 }) }
const shapes = fc.oneof(
  fc.array(fc.record(alike), { minLength: 1, maxLength: 6 }),
  fc.array(fc.record(several), { minLength: 1, maxLength: 8 }),
)

function candidateOf({ failures, isEvicted, rank, capacity }: Shape, index: number): Candidate {
  const endpoint = new LiveEndpoint(
    { key: String(index), host: 'h', port: index + 1, unixPath: undefined, tls: undefined, connectTimeoutMs: 1 },
    'a',
  )
  for (let i = 0; i < failures; i++) {
    endpoint.begin()
    endpoint.end(1, false)
  }
  if (isEvicted) endpoint.state.evict(MINUTE_MS, MINUTE_MS, undefined)
  return { endpoint, rank, capacity }
}

/** The candidates: the active ones of the nearest bucket that has any, else all of the nearest bucket. */
function naiveChoices(candidates: readonly Candidate[]): Candidate[] {
  const usable = candidates.filter(({ rank, capacity }) => rank !== undefined && capacity > 0)
  const active = usable.filter(({ endpoint }) => !endpoint.state.isEvicted)
  const from = active.length > 0 ? active : usable
  const nearest = Math.min(...from.map(({ rank = Infinity }) => rank))
  return from.filter(({ rank }) => rank === nearest)
}

/** Chance of each endpoint, exactly. */
function naiveOdds(candidates: readonly Candidate[]): Map<LiveEndpoint, number> {
  const drawn = naiveChoices(candidates)
  const whole = drawn.reduce((sum, { capacity }) => sum + capacity, 0)
  const odds = new Map(candidates.map(({ endpoint }) => [endpoint, 0]))
  for (const first of drawn) {
    for (const second of drawn) {
      const { endpoint } = second.endpoint.score > first.endpoint.score ? second : first
      odds.set(endpoint, (odds.get(endpoint) ?? 0) + (first.capacity * second.capacity) / whole ** 2)
    }
  }
  return odds
}

describe('endpointPicker', () => {
  it('has the odds of the naive model', () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (list, seed) => {
        const candidates = list.map(candidateOf)
        const picker = endpointPicker(candidates, { isHostname: false, random: randomOf(seed) })
        const counts = new Map<unknown, number>()
        for (let i = 0; i < DRAWS; i++) {
          const picked = picker.pick()
          counts.set(picked, (counts.get(picked) ?? 0) + 1)
        }
        for (const [endpoint, odds] of naiveOdds(candidates)) {
          const share = (counts.get(endpoint) ?? 0) / DRAWS
          // Six standard deviations; impossible and certain choices must be exact.
          const tolerance = 6 * Math.sqrt((odds * (1 - odds)) / DRAWS)
          expect(Math.abs(share - odds)).toBeLessThanOrEqual(tolerance + 1e-12)
        }
      }),
      { numRuns: runs(60), seed: 20_261_121 },
    )
  })

  it('always picks a candidate of the naive model, or none if the model has no candidate', () => {
    fc.assert(
      fc.property(
        shapes,
        fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { minLength: 1 }),
        (list, dice) => {
          const candidates = list.map(candidateOf)
          let at = 0
          const random = (): number => dice[at++ % dice.length] ?? 0
          const picked = endpointPicker(candidates, { isHostname: false, random }).pick()
          const choices = naiveChoices(candidates).map(({ endpoint }) => endpoint)
          if (choices.length === 0) expect(picked).toBeUndefined()
          else expect(choices).toContain(picked)
        },
      ),
    )
  })
})
