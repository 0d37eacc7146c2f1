import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LayeredMap } from './layered-map.ts'

const KEYS = Array.from({ length: 300 }, (_, at) => `key ${at}`)
const change = fc.tuple(fc.constantFrom(...KEYS), fc.option(fc.nat(3), { nil: undefined }))

function expectDifference(before: LayeredMap<number> | undefined, now: LayeredMap<number>): void {
  if (before === undefined) return
  const changes = now.since(before)
  for (const [key, value] of changes) expect(before.get(key)).not.toBe(value)
  expect(new Map(before.with(changes).entries())).toEqual(new Map(now.entries()))
}

describe('LayeredMap', () => {
  it('has the same entries as a map that is copied for each version, and versions do not change', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { maxLength: 90, size: 'max' }), { maxLength: 8, size: 'max' }),
        (rounds) => {
          const expected: Map<string, number>[] = [new Map([['first', 1]])]
          const versions = [LayeredMap.of(new Map([['first', 1]]))]
          for (const changes of rounds) {
            const next = new Map(expected.at(-1))
            for (const [key, value] of changes) {
              if (value === undefined) next.delete(key)
              else next.set(key, value)
            }
            expected.push(next)
            versions.push(versions.at(-1)?.with(changes) ?? LayeredMap.of())
          }
          const [start] = versions
          for (const [at, version] of versions.entries()) {
            const map = expected[at]
            expect(new Map(version.entries())).toEqual(map)
            for (const key of KEYS) expect(version.get(key)).toBe(map?.get(key))
            // The difference turns one into the other, also after the base was rebuilt.
            for (const before of [start, versions[at - 1]]) expectDifference(before, version)
          }
        },
      ),
    )
  })

  it('reports no change between equal versions', () => {
    const one = LayeredMap.of(new Map([['a', 1]]))
    expect(one.with([['a', 1]]).since(one)).toEqual([])
    expect(one.with([['b', undefined]]).since(one)).toEqual([])
  })
})
