// Times and keys of the cache; its use by the policy: ../ext-auth.test.ts.
import { array, assert, bigInt, boolean, constant, double, oneof, property, string, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExtAuthCache } from '#api/ir/types.gen.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import { exchangeOf, expression } from '../../exchange.testing.ts'
import { DecisionCache } from './cache.ts'
import type { Decision } from './decision.ts'

const DECISION: Decision = { isAllowed: false, answer: undefined, metadata: undefined }

const cacheOf = (more: Partial<ExtAuthCache> = {}): DecisionCache =>
  new DecisionCache({ key: ['request.path'], ttlMs: 1000, ...more }, { expression })

/** The result of a lookup at a time: nothing, a hit, or "renew". */
function at(cache: DecisionCache, nowMs: number): 'miss' | 'hit' | 'refresh' {
  const found = cache.find('k', nowMs)
  if (found === undefined) return 'miss'
  return 'hit' in found ? 'hit' : 'refresh'
}

describe('an entry', () => {
  it.each<[number, [number, 'miss' | 'hit' | 'refresh'][]]>([
    [
      1000,
      [
        [100, 'hit'],
        [999, 'hit'],
        [1000, 'refresh'],
        [1001, 'hit'],
        [1099, 'hit'],
        [1100, 'miss'],
      ],
    ],
    // A tenth of a long lifetime exceeds the maximum.
    [
      200_000,
      [
        [195_099, 'hit'],
        [195_100, 'refresh'],
        [195_101, 'hit'],
        [200_100, 'miss'],
      ],
    ],
  ])('of %i ms, stored at 100, is renewed by one request near its end', (ttlMs, times) => {
    const cache = cacheOf({ ttlMs })
    cache.store('k', DECISION, exchangeOf(), 100)
    for (const [nowMs, expected] of times) expect([nowMs, at(cache, nowMs)]).toEqual([nowMs, expected])
  })

  it('whose renewal failed is renewed by the next request', () => {
    const cache = cacheOf()
    cache.store('k', DECISION, exchangeOf(), 0)
    const found = cache.find('k', 950)
    expect(at(cache, 951)).toBe('hit')
    if (found !== undefined && 'settled' in found) found.settled()
    expect(at(cache, 952)).toBe('refresh')
  })

  it('is replaced by a new decision, and dropped on request', () => {
    const cache = cacheOf()
    cache.store('k', DECISION, exchangeOf(), 0)
    cache.store('k', DECISION, exchangeOf(), 950)
    expect(at(cache, 1500)).toBe('hit')
    cache.forget('k')
    expect(at(cache, 1501)).toBe('miss')
  })

  it.each([
    [16_384, 1],
    [16_385, 0],
  ])('with a body of %i bytes is kept: %i', (length, size) => {
    const cache = cacheOf()
    const answer = { status: 403, headers: [], body: Buffer.alloc(length) }
    cache.store('k', { isAllowed: false, answer, metadata: undefined }, exchangeOf(), 0)
    expect(cache.size).toBe(size)
  })

  it('limits the memory', () => {
    const cache = cacheOf({ entriesMax: 3 })
    for (let i = 0; i < 10; i++) cache.store(`k${i}`, DECISION, exchangeOf(), 0)
    expect(cache.size).toBe(3)
  })
})

describe('a key', () => {
  const keyOf = (values: readonly unknown[]): string | undefined => {
    const cache = cacheOf({ key: values.map((_, i) => `metadata.v${i}`) })
    const exchange = exchangeOf()
    exchange.metadata = Object.fromEntries(values.map((value, i) => [`v${i}`, value]))
    return cache.keyOf(exchange)
  }

  it('differs for other values, types and places', () => {
    const scalar = oneof(
      string(),
      boolean(),
      bigInt({ min: -9n, max: 9n }),
      double({ noNaN: true }),
      constant(null),
      uint8Array({ maxLength: 3 }),
    )
    const tuple = array(scalar, { minLength: 1, maxLength: 3 })
    assert(
      property(tuple, tuple, (a, b) => {
        const isSame = a.length === b.length && a.every((value, i) => sameScalar(value, b[i]))
        expect(keyOf(a) === keyOf(b)).toBe(isSame)
      }),
    )
    expect(keyOf(['as', 'b'])).not.toBe(keyOf(['a', 'sb']))
    const ones = [1n, 1, '1', true, new CelUint(1n), Buffer.from('1')]
    expect(new Set(ones.map((one) => keyOf([one]))).size).toBe(ones.length)
  })

  it('does not exist for lists and maps', () => {
    for (const value of [[1n], { a: 1n }]) expect(keyOf([value])).toBeUndefined()
  })

  it.each([
    [4000, true],
    [5000, false],
  ])('of %i characters: %s', (length, isKept) => {
    expect(keyOf(['x'.repeat(length)]) !== undefined).toBe(isKept)
  })
})

function sameScalar(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : Object.is(a, b)
}
