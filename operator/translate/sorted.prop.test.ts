// A list that is sorted with what is known of last time is the list that sorting gives.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortedBy } from './order.ts'
import { sorted } from './sorted.ts'

const keyOf = ({ key }: { readonly key: string }): string => key

describe('sorted', () => {
  it('returns the items in order, whatever was read before', () => {
    const pool = Array.from({ length: 60 }, (_, index) => ({ key: `k${(index * 37) % 60}` }))
    const lists = fc.array(fc.uniqueArray(fc.nat({ max: 59 })), { maxLength: 8 })
    fc.assert(
      fc.property(lists, fc.uniqueArray(fc.nat({ max: 59 }), { minLength: 40 }), (asked, most) => {
        const order = sorted(keyOf)
        for (const picked of [most, most.slice(1), ...asked, most, [...most].reverse()]) {
          const items = picked.flatMap((index) => pool[index] ?? [])
          const list = order.of(items)
          expect(list).toEqual(sortedBy(items, keyOf))
          expect(order.of(items)).toBe(list)
        }
      }),
    )
  })

  it('replaces items of the same key in place', () => {
    const changes = fc.array(fc.array(fc.nat({ max: 59 }), { maxLength: 7 }), { maxLength: 6 })
    fc.assert(
      fc.property(changes, (steps) => {
        const items = Array.from({ length: 60 }, (_, index) => ({ key: `k${(index * 37) % 60}` }))
        const order = sorted(keyOf)
        order.of([...items])
        for (const places of steps) {
          for (const at of places) items[at] = { key: items[at]?.key ?? '' }
          const list = order.of([...items])
          const expected = sortedBy(items, keyOf)
          expect(list.length).toBe(expected.length)
          for (const [index, item] of list.entries()) expect(item).toBe(expected[index])
        }
      }),
    )
  })

  it('does not change a list that it returned', () => {
    const order = sorted(keyOf)
    const items = Array.from({ length: 30 }, (_, index) => ({ key: String(index).padStart(2, '0') }))
    const first = order.of(items)
    const copy = [...first]
    order.of([...items.slice(1), { key: '05x' }])
    expect(first).toEqual(copy)
  })
})
