import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { type Known, withReopened } from './reopened.ts'
import { sessionAt } from './reopened.testing.ts'

const known = fc
  .record({ generation: fc.integer({ min: 1, max: 4 }), claim: fc.uuid() })
  .map(({ generation, claim }): Known => ({ session: sessionAt(claim), lists: [], generation, claim, gone: undefined }))
const shuffles = fc
  .uniqueArray(known, { maxLength: 20, selector: ({ claim }) => claim })
  .chain((list) =>
    fc.tuple(
      fc.shuffledSubarray(list, { minLength: list.length }),
      fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }),
    ),
  )

const all = (list: readonly Known[]): readonly Known[] => list.reduce<readonly Known[]>(withReopened, [])

describe('withReopened', () => {
  it('returns the same list in whatever order, and however often, the messages of workers arrive', () => {
    fc.assert(
      fc.property(shuffles, ([once, twice]) => {
        expect(all(once)).toEqual(all(twice))
      }),
      { numRuns: runs(2000) },
    )
  })
})
