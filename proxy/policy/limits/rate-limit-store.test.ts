import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import type { ConditionalRateLimitEntry, LocalLimit, RateLimitOrConditional } from '#api/ir/types.gen.ts'
import { carryOver, createRateLimitBuffer, keyedLimits, readBucket, sharedRateLimitStore } from './rate-limit-store.ts'
import type { BucketLimit, RateLimitBucket } from '../../chain/rate-limits.ts'

const LIMIT: BucketLimit = { tokensPerFill: 3, fillIntervalMs: 1000, tokensMax: 5 }
const START = 1_000_000

function bucketOf(limit: BucketLimit): RateLimitBucket {
  return sharedRateLimitStore(createRateLimitBuffer(new Map([['k', limit]]), START)).bucket('k', limit)
}

function takeMany(bucket: RateLimitBucket, count: number, nowMs: number): number {
  return Array.from({ length: count }, () => bucket.take(1, nowMs).isAllowed).filter(Boolean).length
}

describe('bucket', () => {
  it('starts full and fills in whole steps up to its maximum', () => {
    const bucket = bucketOf(LIMIT)
    expect(takeMany(bucket, 9, START)).toBe(5)
    expect(takeMany(bucket, 9, START + 999)).toBe(0)
    expect(takeMany(bucket, 9, START + 1000)).toBe(3)
    expect(takeMany(bucket, 9, START + 1999)).toBe(0)
    expect(takeMany(bucket, 9, START + 3000)).toBe(5)
    expect(takeMany(bucket, 9, START + 1e12)).toBe(5)
  })

  it('does not fill when the clock goes back', () => {
    const bucket = bucketOf(LIMIT)
    takeMany(bucket, 5, START + 5000)
    expect(takeMany(bucket, 9, START)).toBe(0)
    expect(takeMany(bucket, 9, START + 6000)).toBe(3)
  })

  it('survives more fills than its counter can count', () => {
    const bucket = bucketOf({ tokensPerFill: 1, fillIntervalMs: 1, tokensMax: 2 })
    for (const later of [2 ** 31, 2 ** 32 - 5, 2 ** 33 + 2 ** 31 + 7])
      expect(takeMany(bucket, 9, START + later)).toBe(2)
  })

  it('takes several at once or none', () => {
    const bucket = bucketOf(LIMIT)
    expect(bucket.take(6, START)).toEqual({ isAllowed: false, limit: 5, remaining: 5, resetSeconds: 1 })
    expect(bucket.take(4, START + 100)).toEqual({ isAllowed: true, limit: 5, remaining: 1, resetSeconds: 1 })
    expect(bucket.take(2, START + 100)).toEqual({ isAllowed: false, limit: 5, remaining: 1, resetSeconds: 1 })
  })

  it('checks without taking, and a charge stops at 0', () => {
    const bucket = bucketOf(LIMIT)
    expect(bucket.take(0, START).remaining).toBe(5)
    bucket.charge(2, START)
    expect(bucket.take(0, START)).toMatchObject({ isAllowed: true, remaining: 3 })
    bucket.charge(1000, START)
    expect(bucket.take(0, START)).toMatchObject({ isAllowed: false, remaining: 0 })
    expect(bucket.take(0, START + 1000)).toMatchObject({ isAllowed: true, remaining: 3 })
  })

  it('counts whole seconds to the next fill', () => {
    const bucket = bucketOf({ ...LIMIT, fillIntervalMs: 60_000 })
    expect(bucket.take(1, START).resetSeconds).toBe(60)
    expect(bucket.take(1, START + 59_001).resetSeconds).toBe(1)
    expect(bucket.take(1, START + 60_000).resetSeconds).toBe(60)
  })

  it('clamps values that exceed its counter', () => {
    const bucket = bucketOf({ tokensPerFill: 1e12, fillIntervalMs: 1000, tokensMax: 1e12 })
    expect(bucket.take(1, START + 9000)).toMatchObject({ limit: 2_147_483_647, remaining: 2_147_483_646 })
  })

  it('has no bucket for an unknown key', () => {
    const store = sharedRateLimitStore(createRateLimitBuffer(new Map(), START))
    expect(() => store.bucket('k', LIMIT)).toThrow('k has no slot')
  })
})

describe('reading a bucket', () => {
  const setUp = () => {
    const buffer = createRateLimitBuffer(new Map([['k', LIMIT]]), START)
    const read = (nowMs: number) => readBucket(buffer, { key: 'k', limit: LIMIT }, nowMs)
    return { buffer, bucket: sharedRateLimitStore(buffer).bucket('k', LIMIT), read }
  }

  it('has the level with the fills that are due, and changes nothing', () => {
    const { bucket, read } = setUp()
    expect(read(START)).toEqual({ remaining: 5, nextFillMs: START + 1000, rejected: 0 })
    bucket.take(5, START)
    expect(read(START + 999)?.remaining).toBe(0)
    expect(read(START + 1000)).toEqual({ remaining: 3, nextFillMs: START + 2000, rejected: 0 })
    expect(read(START + 60_000)?.remaining).toBe(5)
    expect(bucket.take(1, START + 999).isAllowed).toBe(false)
    expect(bucket.take(1, START + 1000).remaining).toBe(2)
    expect(read(START + 1000)?.remaining).toBe(2)
  })

  it('keeps the level while the clock goes back', () => {
    const { bucket, read } = setUp()
    bucket.take(4, START + 5000)
    expect(read(START)?.remaining).toBe(1)
  })

  it('counts rejections, in all configurations that share the limit', () => {
    const { buffer, bucket, read } = setUp()
    bucket.take(6, START)
    bucket.take(5, START)
    bucket.take(0, START)
    const next = carryOver(buffer, new Map([['k', LIMIT], ['other', LIMIT]]), START) // prettier-ignore
    sharedRateLimitStore(next).bucket('k', LIMIT).take(1, START)
    expect(read(START)?.rejected).toBe(3)
    expect(readBucket(next, { key: 'other', limit: LIMIT }, START)?.rejected).toBe(0)
  })

  it('begins with no rejections in memory that a removed limit had', () => {
    const { buffer, bucket } = setUp()
    bucket.take(9, START)
    const removed = carryOver(buffer, new Map(), START)
    const next = carryOver(removed, new Map([['n', LIMIT]]), START)
    expect(next.buffer.byteLength).toBe(24)
    expect(readBucket(next, { key: 'n', limit: LIMIT }, START)).toMatchObject({ remaining: 5, rejected: 0 })
  })

  it('has no state for an unknown limit', () => {
    expect(readBucket(setUp().buffer, { key: 'none', limit: LIMIT }, START)).toBeUndefined()
  })
})

describe('configuration changes', () => {
  const other: BucketLimit = { ...LIMIT, tokensMax: 7 }

  it('keeps the level of existing limits and starts new ones full', () => {
    const first = createRateLimitBuffer(new Map([['a', LIMIT], ['b', LIMIT]]), START) // prettier-ignore
    takeMany(sharedRateLimitStore(first).bucket('a', LIMIT), 4, START)
    takeMany(sharedRateLimitStore(first).bucket('b', LIMIT), 4, START)
    const second = carryOver(first, new Map([['c', other], ['b', LIMIT], ['d', LIMIT]]), START) // prettier-ignore
    const store = sharedRateLimitStore(second)
    expect(takeMany(store.bucket('b', LIMIT), 9, START)).toBe(1)
    expect(takeMany(store.bucket('c', other), 9, START)).toBe(7)
    expect(takeMany(store.bucket('d', LIMIT), 9, START)).toBe(5)
    expect(takeMany(sharedRateLimitStore(first).bucket('a', LIMIT), 9, START)).toBe(1)
    expect(second.buffer).toBe(first.buffer)
  })

  it('counts together in workers that run the old and the new configuration', () => {
    const first = createRateLimitBuffer(new Map([['a', LIMIT]]), START)
    const old = sharedRateLimitStore(first).bucket('a', LIMIT)
    const next = sharedRateLimitStore(carryOver(first, new Map([['a', LIMIT]]), START)).bucket('a', LIMIT)
    expect(takeMany(old, 3, START) + takeMany(next, 9, START) + takeMany(old, 9, START)).toBe(5)
  })

  it('reuses the memory of removed limits, one configuration later', () => {
    let current = createRateLimitBuffer(new Map([['0', LIMIT]]), START)
    for (let i = 1; i < 100; i++) current = carryOver(current, new Map([[String(i), LIMIT]]), START)
    expect(current.buffer.byteLength).toBeLessThanOrEqual(2 * 24)
  })

  it('moves to larger memory if the old one is full', () => {
    const many = (count: number): Map<string, BucketLimit> =>
      new Map(Array.from({ length: count }, (_, i) => [String(i), LIMIT]))
    const first = createRateLimitBuffer(many(10), START)
    takeMany(sharedRateLimitStore(first).bucket('9', LIMIT), 4, START)
    const second = carryOver(first, many(70_000), START)
    expect(second.buffer).not.toBe(first.buffer)
    const store = sharedRateLimitStore(second)
    expect(takeMany(store.bucket('9', LIMIT), 9, START)).toBe(1)
    expect(takeMany(store.bucket('69999', LIMIT), 9, START)).toBe(5)
  })

  const A: LocalLimit = { unit: 'Requests', tokensPerFill: 1, fillIntervalMs: 1000, tokensMax: 2 }
  const B: LocalLimit = { ...A, tokensMax: 3 }
  const keysOf = (policyKey: string, payload: RateLimitOrConditional): string[][] =>
    keyedLimits(policyKey, payload).map(({ policy }) => policy.map(({ key }) => key))

  it('creates keys that depend only on the policy and the limit', () => {
    const [[keyA] = []] = keysOf('p', { limits: [A] })
    const [three = []] = keysOf('p', { limits: [B, A, A] })
    expect(three[1]).toBe(keyA)
    expect(new Set(three).size).toBe(3)
    expect(keysOf('q', { limits: [A] })).not.toEqual([[keyA]])
    expect(keysOf('p', { limits: [{ ...A, unit: 'Tokens' }] })).not.toEqual([[keyA]])
  })

  it('keeps the keys of conditional entries if others are added, removed and moved', () => {
    const first: ConditionalRateLimitEntry = { condition: 'a', policy: { limits: [A] } }
    const second: ConditionalRateLimitEntry = { condition: 'b', policy: { limits: [A, B] } }
    const rest: ConditionalRateLimitEntry = { policy: { limits: [A] } }
    const [keyOfFirst, keysOfSecond, keyOfRest] = keysOf('p', { conditional: [first, second, rest] })
    expect(new Set([keyOfFirst, keysOfSecond, keyOfRest].flat()).size).toBe(4)
    expect(keysOf('p', { conditional: [second, first] })).toEqual([keysOfSecond, keyOfFirst])
    expect(keysOf('p', { conditional: [rest] })).toEqual([keyOfRest])
    // The former plain limit continues as the entry for all others.
    expect(keysOf('p', { limits: [A] })).toEqual([keyOfRest])
    expect(new Set(keysOf('p', { conditional: [first, first] }).flat()).size).toBe(2)
    expect(keysOf('p', { conditional: [{ ...first, condition: 'c'.repeat(16_384) }] }).join().length).toBeLessThan(100)
  })
})

describe('worker threads', () => {
  let rejected: number | undefined

  async function hammer(limit: BucketLimit, nowMs: readonly number[], tries: number): Promise<number> {
    const { buffer, slots } = createRateLimitBuffer(new Map([['k', limit]]), START)
    const shared = { buffer, slots: new Map(slots.entries()) }
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const script = new URL('rate-limit-hammer.testing.ts', import.meta.url)
    const workers = Array.from(
      { length: 4 },
      () => new Worker(script, { workerData: { shared, limit, gate, nowMs, tries } }),
    )
    const counts = await Promise.all(
      workers.map(
        (worker) =>
          new Promise<number>((resolve, reject) => {
            worker.once('message', (count: number) => resolve(count))
            worker.once('error', reject)
          }),
      ),
    )
    await Promise.all(workers.map((worker) => worker.terminate()))
    rejected = readBucket({ buffer, slots }, { key: 'k', limit }, START)?.rejected
    return counts.reduce((sum, count) => sum + count, 0)
  }

  it('together take exactly the available tokens', async () => {
    expect(await hammer({ tokensPerFill: 1, fillIntervalMs: 1000, tokensMax: 30_001 }, [START], 20_000)).toBe(30_001)
    expect(rejected).toBe(4 * 20_000 - 30_001)
  })

  it('fill each interval once, and lose nothing', async () => {
    const fills = 50_000
    const limit = { tokensPerFill: 2, fillIntervalMs: 1000, tokensMax: 100_000 }
    const running = Array.from({ length: fills + 1 }, (_, i) => START + i * 1000)
    // First all tokens are taken, at the end all remaining ones.
    const drain = (nowMs: number): number[] => Array.from({ length: limit.tokensMax / 4 }, () => nowMs)
    const moments = [...drain(START), ...running, ...drain(START + fills * 1000)]
    expect(await hammer(limit, moments, 4)).toBe(limit.tokensMax + fills * limit.tokensPerFill)
  })
})
