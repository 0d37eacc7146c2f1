import { describe, expect, it } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

describe('TokenBucket', () => {
  it('lets the burst through at once, and then one after the other', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 3 })
    expect([0, 0, 0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0, 100, 200])
  })

  it('fills up again, and not beyond the burst', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    for (const _ of [1, 2, 3]) bucket.take(1000)
    expect(bucket.take(1200)).toBe(0)
    expect([1, 2, 3].map(() => bucket.take(60_000))).toEqual([0, 0, 100])
  })

  it('treats a clock that goes back as one that stands still', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    expect(bucket.take(5000)).toBe(0)
    expect(bucket.take(1000)).toBe(100)
  })

  it('reserves no turn when tryTake returns false', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 2 })
    expect([0, 0, 0, 0, 999, 1000, 1000].map((now) => bucket.tryTake(now))).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
      false,
    ])
  })
})
