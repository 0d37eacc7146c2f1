import { describe, expect, it } from 'vitest'
import { quantileOf } from './quantile.ts'

const BOUNDS = Float64Array.of(1, 2, 4)

describe('quantileOf', () => {
  it.each([
    ['no value', [0, 0, 0, 0], 0.5, null],
    ['all values in the first bucket', [4, 0, 0, 0], 0.5, 0.5],
    ['half of the values in each of two buckets', [2, 2, 0, 0], 0.75, 1.5],
    ['an empty bucket between others', [1, 0, 1, 0], 0.99, 3.96],
    ['values over the last bound', [1, 0, 0, 9], 0.5, 4],
    ['all values', [1, 1, 1, 0], 1, 4],
  ])('estimates a quantile of %s', (_, counts, quantile, expected) => {
    expect(quantileOf(BOUNDS, Float64Array.from(counts), quantile)).toBe(expected)
  })
})
