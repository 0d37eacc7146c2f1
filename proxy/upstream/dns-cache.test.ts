// Names: cached, refreshed behind the back of requests, never lost to a failing resolver.
import { describe, expect, it } from 'vitest'
import { DnsCache } from './dns-cache.ts'

type Done = (error: Error | undefined, addresses: readonly string[]) => void

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

  it('refreshes after 30 s without making anybody wait, and keeps the last good answer', () => {
    const { lookups, clock, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(undefined, ['1.1.1.1'])
    clock.nowMs = 29_999
    resolve()
    expect(lookups.length).toBe(1)
    clock.nowMs = 30_000
    resolve()
    resolve()
    expect(results.length).toBe(4)
    expect(lookups.length).toBe(2)
    lookups[1]?.(new Error('SERVFAIL'), [])
    resolve()
    expect(results.at(-1)?.addresses).toEqual(['1.1.1.1'])
    clock.nowMs = 35_000
    resolve()
    expect(lookups.length).toBe(3)
    lookups[2]?.(undefined, ['2.2.2.2'])
    resolve()
    expect(results.at(-1)?.addresses).toEqual(['2.2.2.2'])
  })

  it('tells the error of a name that never resolved, and asks again next time', () => {
    const { lookups, resolve } = setUp()
    const results = resolve()
    lookups[0]?.(new Error('ENOTFOUND'), [])
    expect(results[0]?.addresses).toEqual([])
    expect(results[0]?.error?.message).toBe('ENOTFOUND')
    resolve()
    expect(lookups.length).toBe(2)
  })
})
