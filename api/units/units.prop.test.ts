// Round trips of durations and byte sizes.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BYTE_SIZE_MAX, formatByteSize, parseByteSize } from './byte-size.ts'
import { DURATION_MS_MAX, formatDuration, parseDuration } from './duration.ts'

describe('durations', () => {
  it('come back from their text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DURATION_MS_MAX }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ms })
      }),
    )
  })

  it('are a value or a problem for any text, and a value prints again', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(\d{1,5}(h|m|s|ms)){1,4}$/)), (text) => {
        const outcome = parseDuration(text)
        const again = 'ms' in outcome ? parseDuration(formatDuration(outcome.ms)) : outcome
        expect(again).toEqual(outcome)
      }),
    )
  })
})

describe('byte sizes', () => {
  it('come back from their text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: BYTE_SIZE_MAX }), (bytes) => {
        expect(parseByteSize(formatByteSize(bytes))).toEqual({ bytes, isClamped: false })
      }),
    )
  })

  it('stay within bounds for any text or number', () => {
    const quantity = fc.stringMatching(/^[+-]?\d{1,9}(\.\d{0,5})?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), quantity), (value) => {
        const outcome = parseByteSize(value)
        if (!('bytes' in outcome)) return
        expect(Number.isInteger(outcome.bytes)).toBe(true)
        expect(outcome.bytes).toBeGreaterThanOrEqual(1)
        expect(outcome.bytes).toBeLessThanOrEqual(BYTE_SIZE_MAX)
      }),
    )
  })
})
