import { describe, expect, it } from 'vitest'
import { quantityValue } from './quantity.ts'

describe('quantityValue', () => {
  it.each<[string | number, number]>([
    [0, 0],
    [2, 2],
    ['2', 2],
    ['100m', 0.1],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['1k', 1000],
    ['128Mi', 134_217_728],
    ['1Gi', 1_073_741_824],
    ['1G', 1e9],
    ['1E', 1e18],
    ['1e3', 1000],
    ['1E3', 1000],
    ['-1', -1],
  ])('reads %s', (text, value) => expect(quantityValue(text)).toBeCloseTo(value, 9))

  it.each(['', 'm', '1X', 'one'])('reads nothing from "%s"', (text) => expect(quantityValue(text)).toBeNaN())
})
