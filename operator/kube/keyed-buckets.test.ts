import { describe, expect, it } from 'vitest'
import { KeyedBuckets } from './keyed-buckets.ts'

describe('KeyedBuckets', () => {
  it('limits each key by itself', () => {
    const buckets = new KeyedBuckets({ perSecond: 1, burst: 1 })
    expect(['noisy', 'noisy', 'noisy', 'quiet'].map((key) => buckets.of(key).take(0))).toEqual([0, 1000, 2000, 0])
  })

  it('forgets the least recently used key', () => {
    const buckets = new KeyedBuckets({ perSecond: 1, burst: 1 }, 2)
    for (const key of ['a', 'b', 'a', 'c']) buckets.of(key).take(0)
    expect(['a', 'c', 'b'].map((key) => buckets.of(key).tryTake(0))).toEqual([false, false, true])
  })
})
