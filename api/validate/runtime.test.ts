import { describe, expect, it } from 'vitest'
import { codePoints, equal, formats, re2 } from './runtime.ts'

describe('codePoints', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['😀', 1],
    ['a😀b😀', 4],
    ['\ud83d', 1],
    ['\ud83da', 2],
    ['\ude00\ud83d', 2],
  ])('%j has %d', (text, count) => {
    expect(codePoints(text)).toBe(count)
  })
})

describe('equal', () => {
  it('compares JSON values deeply, whatever the order of fields', () => {
    expect(equal({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true)
    expect(equal([1, 2], [2, 1])).toBe(false)
    expect(equal({ a: 1 }, { b: 1 })).toBe(false)
    expect(equal([], {})).toBe(false)
    expect(equal(null, {})).toBe(false)
    expect(equal({}, { toString: 1 })).toBe(false)
  })
})

describe('re2', () => {
  it('finds anywhere, in time linear in the text', () => {
    expect(re2('b+').test('abbc')).toBe(true)
    expect(re2('^(a+)+$').test(`${'a'.repeat(50_000)}!`)).toBe(false)
  })
})

describe('formats', () => {
  it.each([
    ['date-time', '2026-01-02T03:04:05Z', true],
    ['date-time', '2026-01-02T03:04:05.123+02:00', true],
    ['date-time', '2026-13-02T03:04:05Z', false],
    ['date-time', '2026-02-30T00:00:00Z', false],
    ['date-time', '2028-02-29T00:00:00Z', true],
    ['date-time', '2026-01-02T23:59:60Z', false],
    ['date-time', '2026-01-02', false],
    ['ipv4', '10.0.0.1', true],
    ['ipv4', '10.0.1', false],
    ['ipv6', 'fe80::1', true],
    ['ipv6', '10.0.0.1', false],
    ['cidr', '10.0.0.0/8', true],
    ['cidr', '10.0.0.0', false],
    ['hostname', 'a.example.com', true],
    ['hostname', '-a', false],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', true],
    ['uuid', 'x', false],
    ['byte', 'aGk=', true],
    ['byte', 'a', false],
  ])('%s %s: %s', (name, text, expected) => {
    expect(formats[name]?.(text)).toBe(expected)
  })
})
