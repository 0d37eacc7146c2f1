import { describe, expect, it } from 'vitest'
import { isRecord, parseJson } from './json.ts'

describe('parseJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['null', null],
    ['"text"', 'text'],
  ])('reads %s', (text, value) => expect(parseJson(text)).toEqual(value))

  it.each(['', '{', 'undefined', '{"a":1}x'])('treats %j as invalid JSON', (text) =>
    expect(parseJson(text)).toBeUndefined(),
  )
})

describe('isRecord', () => {
  it.each([
    [{}, true],
    [{ a: 1 }, true],
    [null, false],
    [[], false],
    ['{}', false],
    [undefined, false],
  ])('of %j is %s', (value, expected) => expect(isRecord(value)).toBe(expected))
})
