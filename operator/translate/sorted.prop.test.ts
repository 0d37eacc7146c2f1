// A list that is sorted with what is known of last time is the list that sorting gives.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortedBy } from './order.ts'
import { sorted, sortedParts } from './sorted.ts'

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

interface Holder {
  readonly parts: readonly { readonly key: string }[]
}

describe('sortedParts', () => {
  /** Each holder of the pool has up to two parts, whose keys no other holder has. */
  const holderOf = (index: number, version: number): Holder => ({
    parts: Array.from({ length: index % 3 }, (_, part) => ({ key: `k${(index * 37) % 600}.${part}`, version })),
  })
  /** What becomes of some holders of a list: another version, none, or the other list. */
  const steps = fc.array(
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'same parts', 'remove', 'move')), { maxLength: 5 }),
    { maxLength: 6 },
  )

  it('returns the parts of the items of several lists in order, after each change', () => {
    fc.assert(
      fc.property(steps, (changes) => {
        const order = sortedParts(({ parts }: Holder) => parts, keyOf)
        let [one, two] = [0, 1].map((half) => Array.from({ length: 300 }, (_, at) => holderOf(2 * at + half, 0)))
        if (one === undefined || two === undefined) throw new Error('two lists')
        let list = order.of(one, two)
        expect(list).toEqual(
          sortedBy(
            [...one, ...two].flatMap(({ parts }) => parts),
            keyOf,
          ),
        )
        for (const step of changes) {
          const earlier = [list, [...list]] as const
          ;[one, two] = [[...one], [...two]]
          for (const [number, change] of step) {
            const [from, to] = number % 2 === 0 ? [one, two] : [two, one]
            const at = number % from.length
            const [holder] = from.splice(at, 1)
            if (holder === undefined || change === 'remove') continue
            if (change === 'move') to.push(holder)
            else if (change === 'same parts') from.splice(at, 0, { ...holder })
            else from.splice(at, 0, { parts: holder.parts.map((part) => ({ ...part })) })
          }
          list = order.of(one, two)
          const expected = sortedBy(
            [...one, ...two].flatMap(({ parts }) => parts),
            keyOf,
          )
          expect(list.length).toBe(expected.length)
          for (const [index, part] of list.entries()) expect(part).toBe(expected[index])
          expect(order.of([...one], [...two])).toBe(list)
          // The one before stays as it was.
          expect(earlier[0]).toEqual(earlier[1])
        }
      }),
    )
  })
})
