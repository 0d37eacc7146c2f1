import { describe, expect, it } from 'vitest'
import { weightedPicker } from './weighted.ts'

describe('weightedPicker', () => {
  it('gives nothing without a positive weight', () => {
    expect(weightedPicker([])()).toBeUndefined()
    expect(weightedPicker([{ weight: 0, value: 'a' }])()).toBeUndefined()
  })

  it('never picks weight 0 and splits by weight', () => {
    let at = 0
    const pick = weightedPicker(
      [
        { weight: 1, value: 'a' },
        { weight: 0, value: 'never' },
        { weight: 3, value: 'b' },
      ],
      () => (at++ % 100) / 100,
    )
    const counts = new Map<string | undefined, number>()
    for (let i = 0; i < 100; i++) {
      const value = pick()
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    expect(Object.fromEntries(counts)).toEqual({ a: 25, b: 75 })
  })
})
