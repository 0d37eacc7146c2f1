import { describe, expect, it } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

describe('BoundedCache', () => {
  it('evicts the least recently used entry', () => {
    const cache = new BoundedCache<number>({ entriesMax: 2, weightMax: 100 })
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).toBe(1)
    cache.set('c', 3)
    expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2])
  })

  it('limits the total weight, and rejects an entry that alone is too heavy', () => {
    const cache = new BoundedCache<number>({ entriesMax: 10, weightMax: 10 })
    cache.set('a', 1, 4)
    cache.set('b', 2, 4)
    cache.set('c', 3, 4)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 3])
    cache.set('d', 4, 11)
    expect([cache.get('d'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 3])
    cache.set('e', 5, 10)
    expect([cache.get('e'), cache.size]).toEqual([5, 1])
  })

  it('subtracts the weight of a replaced or deleted entry', () => {
    const cache = new BoundedCache<number>({ entriesMax: 10, weightMax: 10 })
    for (let i = 0; i < 20; i++) cache.set('a', i, 6)
    cache.set('b', 1, 4)
    expect([cache.get('a'), cache.get('b')]).toEqual([19, 1])
    cache.delete('a')
    cache.delete('a')
    cache.set('c', 2, 6)
    expect([cache.get('b'), cache.get('c')]).toEqual([1, 2])
  })
})
