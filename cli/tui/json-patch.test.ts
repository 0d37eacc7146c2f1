import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPatch } from './json-patch.ts'

describe('jsonPatch', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{}, { a: 1 }, [{ op: 'add', path: '/a', value: 1 }]],
    [{ a: 1 }, {}, [{ op: 'remove', path: '/a', before: 1 }]],
    [{ a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2, before: 1 }]],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        { op: 'replace', path: '/a/1', value: 3, before: 2 },
        { op: 'add', path: '/a/2', value: 4 },
      ],
    ],
    [{ a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {}, before: [] }]],
    [{ 'a/b~c': 1 }, {}, [{ op: 'remove', path: '/a~1b~0c', before: 1 }]],
    [null, 1, [{ op: 'replace', path: '', value: 1, before: null }]],
  ])('%j to %j', (before, after, operations) => {
    expect(jsonPatch(before, after)).toEqual(operations)
  })

  it('finds no operation exactly for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        expect(jsonPatch(before, structuredClone(before))).toEqual([])
        const [one, other] = [JSON.stringify(before), JSON.stringify(after)]
        if (jsonPatch(before, after).length === 0) expect(JSON.parse(one)).toEqual(JSON.parse(other))
      }),
    )
  })
})
