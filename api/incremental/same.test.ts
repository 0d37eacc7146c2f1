import { expect, it } from 'vitest'
import { isSame } from './same.ts'

it.each<[unknown, unknown, boolean]>([
  [1, 1, true],
  [1, '1', false],
  [null, undefined, false],
  [[1, { a: [] }], [1, { a: [] }], true],
  [[1], [1, undefined], false],
  [[], {}, false],
  [{}, [], false],
  [{ a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: undefined, b: 1 }, { b: 1 }, true],
  [{ b: 1 }, { a: undefined, b: 1 }, true],
  // As many fields on both sides.
  [{ a: undefined, b: 1 }, { b: 1, c: 2 }, false],
  [{}, { toString: undefined }, true],
  [{ toString: 1 }, {}, false],
])('%j and %j: %s', (a, b, expected) => {
  expect(isSame(a, b)).toBe(expected)
  expect(isSame(b, a)).toBe(expected)
})
