// Text that would cost much to parse is rejected before it is parsed, and all other text is not.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  JSON_DEPTH_MAX,
  JSON_PARTS_MAX,
  JSON_VALUES_MAX,
  jsonExcess,
  JsonTooComplex,
  parseBoundedJson,
  parseExactJson,
} from './bounded-json.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const list = (count: number, element: string): string => `[${Array<string>(count).fill(element).join(',')}]`

describe('jsonExcess', () => {
  it.each([
    ['the deepest lists', nested(JSON_DEPTH_MAX), undefined],
    ['lists that are too deep', nested(JSON_DEPTH_MAX + 1), 'the JSON is nested deeper than 128 levels'],
    ['objects that are too deep', '{"a":'.repeat(JSON_DEPTH_MAX + 1), 'the JSON is nested deeper than 128 levels'],
    ['openings that are never closed', '['.repeat(2_000_000), 'the JSON is nested deeper than 128 levels'],
    ['openings inside a string', JSON.stringify(['['.repeat(1000)]), undefined],
    ['openings behind an escaped quote', JSON.stringify([`"${'['.repeat(1000)}`]), undefined],
    [
      'openings behind an escaped backslash',
      `["\\\\",${nested(JSON_DEPTH_MAX)}]`,
      'the JSON is nested deeper than 128 levels',
    ],
    ['many lists beside each other', list(JSON_PARTS_MAX - 1, '[]'), undefined],
    ['too many lists', list(JSON_PARTS_MAX, '[]'), 'the JSON has more than 100000 objects, arrays and members'],
    [
      'too many members',
      `{${'"a":1,'.repeat(JSON_PARTS_MAX)}`,
      'the JSON has more than 100000 objects, arrays and members',
    ],
    ['many numbers', list(JSON_VALUES_MAX, '1'), undefined],
    ['too many numbers', list(JSON_VALUES_MAX + 2, '1'), 'the JSON has more than 1000000 values'],
    ['an open string', `["${'\\'.repeat(1001)}`, undefined],
    ['no JSON at all', ']]]]}}}},,,,', undefined],
  ])('%s', (_, text, expected) => expect(jsonExcess(text)).toBe(expected))

  it('accepts every JSON text within the limits, and measures its depth exactly', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat({ max: JSON_DEPTH_MAX }), (value, levels) => {
        const text = '['.repeat(levels) + JSON.stringify(value) + ']'.repeat(levels)
        expect(jsonExcess(text) !== undefined).toBe(depthOf(value) + levels > JSON_DEPTH_MAX)
      }),
    )
  })
})

describe('parseBoundedJson', () => {
  it('parses JSON within the limits, and distinguishes JSON above them from invalid JSON', () => {
    expect(parseBoundedJson('{"a":[1]}')).toEqual({ a: [1] })
    expect(() => parseBoundedJson(nested(JSON_DEPTH_MAX + 1))).toThrow(JsonTooComplex)
    expect(() => parseBoundedJson('{')).toThrow(SyntaxError)
  })

  it('keeps long whole numbers for values that are written again', () => {
    const text = '{"id":12345678901234567890,"list":[-9007199254740993,1.5],"s":"12345678901234567890"}'
    expect(JSON.stringify(parseExactJson(text))).toBe(text)
    expect(parseExactJson('{"a":1}')).toEqual({ a: 1 })
    expect(() => parseExactJson(nested(JSON_DEPTH_MAX + 1))).toThrow(JsonTooComplex)
  })

  it('rejects 2 MB of opening brackets in a few milliseconds', () => {
    const text = '['.repeat(2_000_000)
    const started = process.cpuUsage()
    expect(() => parseBoundedJson(text)).toThrow(JsonTooComplex)
    expect(process.cpuUsage(started).user).toBeLessThan(100_000)
  })
})
