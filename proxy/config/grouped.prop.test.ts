import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Grouped, grouped } from './grouped.ts'

interface Item {
  readonly name: string
  readonly keys: readonly string[]
}

const POOL: readonly Item[] = Array.from({ length: 12 }, (_, at) => ({
  name: `item ${at}`,
  keys: ['a', 'b', 'c', 'd'].filter((_key, bit) => ((at * 5 + 3) >> bit) % 2 === 1),
}))

const lists = fc.array(
  fc.shuffledSubarray([...POOL]).chain((list) =>
    fc.constantFrom(
      list,
      list.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ),
  ),
  { minLength: 1, maxLength: 8 },
)

describe('grouped', () => {
  it('is what grouping anew is, whatever came before, and leaves the former one as it was', () => {
    fc.assert(
      fc.property(lists, (all) => {
        let former: Grouped<Item> | undefined
        for (const list of all) {
          const before = structuredClone(former?.groups)
          const now = grouped(list, ({ keys }) => keys, former)
          const anew = new Map<string, Item[]>()
          for (const item of list) for (const key of item.keys) anew.set(key, [...(anew.get(key) ?? []), item])
          expect(now.groups).toEqual(anew)
          expect(structuredClone(former?.groups)).toEqual(before)
          former = now
        }
      }),
    )
  })

  it('keeps the order of the list, and the groups of which nothing changed', () => {
    const [one, two, three] = ['1', '2', '3'].map((name) => ({ name, keys: [name === '3' ? 'y' : 'x'] }))
    if (one === undefined || two === undefined || three === undefined) throw new Error('three')
    const first = grouped([one, two, three], ({ keys }) => keys)
    const other = { name: '2', keys: ['x'] }
    const second = grouped([one, other, three], ({ keys }) => keys, first)
    expect(second.groups.get('x')).toEqual([one, other])
    expect(second.groups.get('y')).toBe(first.groups.get('y'))
    expect(grouped(second.list, ({ keys }) => keys, second)).toBe(second)
    const third = grouped([other, one, three], ({ keys }) => keys, second)
    expect(third.groups.get('x')).toEqual([other, one])
  })
})
