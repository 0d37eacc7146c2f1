// Durations: accepted and rejected texts, boundaries.
import { describe, expect, it } from 'vitest'
import { DURATION_MS_MAX, formatDuration, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['0h0m0s0ms', 0],
    ['1ms', 1],
    ['500ms', 500],
    ['1s', 1000],
    ['2m', 120_000],
    ['1h30m', 5_400_000],
    ['30m1h', 5_400_000],
    ['1h1m1s1ms', 3_661_001],
    ['99999h', 99_999 * 3_600_000],
    ['99999h59m59s999ms', DURATION_MS_MAX],
    ['99999h60m', DURATION_MS_MAX],
    ['99999h99999h', DURATION_MS_MAX],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ms })
  })

  it.each(['', '1', 's', '100000s', '1.5s', '-1s', '+1s', ' 1s', '1s ', '1d', '1us', '1S', '1s1s1s1s1s', '1s\n'])(
    'refuses %j',
    (text) => {
      expect(parseDuration(text)).toHaveProperty('problem')
    },
  )
})

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [999, '999ms'],
    [1000, '1s'],
    [90_000, '1m30s'],
    [5_400_000, '1h30m'],
    [DURATION_MS_MAX, '99999h59m59s999ms'],
  ])('writes %d as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it.each([-1, 0.5, Number.NaN, DURATION_MS_MAX + 1])('rejects %d', (ms) => {
    expect(() => formatDuration(ms)).toThrow(RangeError)
  })
})
