// Names: cached, refreshed behind the back of requests, never lost to a failing resolver.
import { describe, expect, it } from 'vitest'
import { DnsCache } from './dns-cache.ts'
import type { Lookup } from './lookup.ts'

type Done = Parameters<Lookup>[1]

function setUp(): {
  cache: DnsCache
  lookups: Done[]
  clock: { nowMs: number }
  resolve: () => { addresses: readonly string[]; error: Error | undefined }[]
} {
  const lookups: Done[] = []
  const clock = { nowMs: 0 }
  const cache = new DnsCache(
    (_host, done) => {
      lookups.push(done)
    },
    () => clock.nowMs,
  )
  const results: { addresses: readonly string[]; error: Error | undefined }[] = []
  return {
    cache,
    lookups,
    clock,
    resolve() {
      cache.resolve('a.test', (addresses, error) => results.push({ addresses, error }))
      return results
    },
  }
}

describe('DnsCache', () => {
  it('passes addresses through without a look-up', () => {
    const { cache, lookups } = setUp()
    const seen: string[] = []
    for (const host of ['192.0.2.1', '::1']) cache.resolve(host, (addresses) => seen.push(...addresses))
    expect(seen).toEqual(['192.0.2.1', '::1'])
    expect(lookups.length).toBe(0)
  })

  it('asks once for all who wait, then answers from memory in turn', () => {
    const { lookups, resolve } = setUp()
    resolve()
    const results = resolve()
    expect(lookups.length).toBe(1)
    lookups[0]?.(undefined, ['1.1.1.1', '2.2.2.2'])
    resolve()
    expect(results.map(({ addresses }) => addresses[0])).toEqual(['1.1.1.1', '2.2.2.2', '1.1.1.1'])
    expect(results[0]?.addresses).toEqual(['1.1.1.1', '2.2.2.2'])
    expect(lookups.length).toBe(1)
  })

  it('refreshes at the time to live without a wait for callers, and keeps the last good answer', () => {
    const { lookups, clock, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(undefined, ['1.1.1.1'], 20_000)
    clock.nowMs = 19_999
    resolve()
    expect(lookups.length).toBe(1)
    clock.nowMs = 20_000
    resolve()
    resolve()
    expect(results.length).toBe(4)
    expect(lookups.length).toBe(2)
    lookups[1]?.(new Error('SERVFAIL'), [])
    resolve()
    expect(results.at(-1)).toEqual({ addresses: ['1.1.1.1'], error: undefined })
    clock.nowMs = 20_100
    resolve()
    expect(lookups.length).toBe(3)
    lookups[2]?.(undefined, ['2.2.2.2'])
    resolve()
    expect(results.at(-1)?.addresses).toEqual(['2.2.2.2'])
  })

  it.each([
    [0, 5000],
    [4999, 5000],
    [5001, 5001],
    [undefined, 30_000],
    [299_999, 299_999],
    [300_001, 300_000],
  ])('a time to live of %s ms counts as %s', (ttlMs, expected) => {
    const { lookups, clock, resolve } = setUp()
    resolve()
    lookups[0]?.(undefined, ['1.1.1.1'], ttlMs)
    clock.nowMs = expected - 1
    resolve()
    expect(lookups.length).toBe(1)
    clock.nowMs = expected
    resolve()
    expect(lookups.length).toBe(2)
  })

  it('asks again after failures at growing intervals, 100 ms to 5 s, from the beginning after a success', () => {
    const { lookups, clock, resolve } = setUp()
    resolve()
    lookups[0]?.(undefined, ['1.1.1.1'], 5000)
    clock.nowMs = 5000
    const waits: number[] = []
    for (let failures = 0; failures < 8; failures++) {
      resolve()
      const asked = lookups.length
      lookups.at(-1)?.(new Error('SERVFAIL'), [])
      let waitMs = 0
      while (lookups.length === asked) {
        waitMs += 100
        clock.nowMs += 100
        resolve()
      }
      waits.push(waitMs)
    }
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000])
    lookups.at(-1)?.(undefined, ['2.2.2.2'], 5000)
    clock.nowMs += 5000
    resolve()
    const asked = lookups.length
    lookups.at(-1)?.(new Error('SERVFAIL'), [])
    clock.nowMs += 100
    expect(resolve().at(-1)?.addresses).toEqual(['2.2.2.2'])
    expect(lookups.length).toBe(asked + 1)
  })

  it('returns the error of a name that never resolved, and does not ask again at once', () => {
    const { lookups, clock, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(new Error('ENOTFOUND'), [])
    expect(results).toMatchObject([{ addresses: [], error: { message: 'ENOTFOUND' } }])
    resolve()
    expect(results).toMatchObject([{}, { addresses: [], error: { message: 'ENOTFOUND' } }])
    expect(lookups.length).toBe(1)
    clock.nowMs = 100
    resolve()
    expect(results.length).toBe(2)
    lookups[1]?.(undefined, ['1.1.1.1'])
    expect(results.at(-1)).toEqual({ addresses: ['1.1.1.1'], error: undefined })
  })

  it('asks first for a name that was unused for its whole time to live', () => {
    const { lookups, clock, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(undefined, ['1.1.1.1'], 5000)
    clock.nowMs = 10_000
    resolve()
    expect(results.length).toBe(1)
    lookups[1]?.(undefined, ['2.2.2.2'], 5000)
    expect(results.at(-1)?.addresses).toEqual(['2.2.2.2'])
    clock.nowMs = 20_000
    resolve()
    lookups[2]?.(new Error('SERVFAIL'), [])
    expect(results.at(-1)?.addresses).toEqual(['2.2.2.2'])
    // Broken: no request waits for it again.
    clock.nowMs = 30_000
    resolve()
    expect(results.length).toBe(4)
    expect(lookups.length).toBe(4)
  })

  it('uses the last good answer when the fresh one takes long', async () => {
    const { lookups, clock, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(undefined, ['1.1.1.1'], 5000)
    clock.nowMs = 10_000
    resolve()
    await expect.poll(() => results.length, { timeout: 10_000 }).toBe(2)
    expect(results.at(-1)?.addresses).toEqual(['1.1.1.1'])
    resolve()
    expect(results.length).toBe(3)
    expect(lookups.length).toBe(2)
  })

  it('goes round among the addresses of the first family; the others come last', () => {
    const { lookups, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(undefined, ['1.1.1.1', '::1', '2.2.2.2', '::2'])
    resolve()
    resolve()
    expect(results.map(({ addresses }) => addresses)).toEqual([
      ['1.1.1.1', '2.2.2.2', '::1', '::2'],
      ['2.2.2.2', '1.1.1.1', '::1', '::2'],
      ['1.1.1.1', '2.2.2.2', '::1', '::2'],
    ])
  })
})
