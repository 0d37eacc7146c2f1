// Byte sizes: the quantity grammar, rounding, boundaries.
import { describe, expect, it } from 'vitest'
import { BYTE_SIZE_MAX, formatByteSize, parseByteSize } from './byte-size.ts'

describe('parseByteSize', () => {
  it.each([
    [1, 1],
    ['1', 1],
    ['+1', 1],
    [2_097_152, 2_097_152],
    ['2Mi', 2_097_152],
    ['2M', 2_000_000],
    ['16Ki', 16_384],
    ['16k', 16_000],
    ['1.5Ki', 1536],
    ['.5Ki', 512],
    ['5.', 5],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1E', BYTE_SIZE_MAX],
    ['1500m', 2],
    ['1m', 1],
    ['1n', 1],
    ['1u', 1],
    ['1e-30', 1],
    ['3Gi', 3_221_225_472],
    [BYTE_SIZE_MAX, BYTE_SIZE_MAX],
    [BYTE_SIZE_MAX + 1, BYTE_SIZE_MAX],
    ['4294967295', BYTE_SIZE_MAX],
    ['4294967296', BYTE_SIZE_MAX],
    ['4Gi', BYTE_SIZE_MAX],
    ['8Ei', BYTE_SIZE_MAX],
    ['1e999999999', BYTE_SIZE_MAX],
  ])('reads %s', (value, bytes) => {
    expect(parseByteSize(value)).toMatchObject({ bytes })
  })

  it('marks what is over the limit', () => {
    expect(parseByteSize('4Gi')).toMatchObject({ isClamped: true })
    expect(parseByteSize(BYTE_SIZE_MAX)).toMatchObject({ isClamped: false })
  })

  it.each(['', '.', 'Ki', '1K', '1ki', '2mb', '16kb', '1 Ki', '0x10', '1e', '1e1.5', '--1', '1Kii', '1'.repeat(33)])(
    'refuses %j',
    (text) => {
      expect(parseByteSize(text)).toEqual({ problem: expect.stringContaining('is not a size') })
    },
  )

  it.each([0, -1, '0', '0Ki', '-1', '-2Mi', '0e5'])('rejects %j as too small', (value) => {
    expect(parseByteSize(value)).toEqual({ problem: 'is too small: at least 1 byte' })
  })

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects the number %d', (value) => {
    expect(parseByteSize(value)).toHaveProperty('problem')
  })
})

describe('formatByteSize', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [1000, '1000'],
    [1024, '1Ki'],
    [1536, '1536'],
    [2_097_152, '2Mi'],
    [BYTE_SIZE_MAX, '4294967295'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatByteSize(bytes)).toBe(text)
  })
})
