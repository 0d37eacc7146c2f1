import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listChanges, listChangesUpTo, noteChanges, withChanges } from './list-change.ts'

const POOL = Array.from({ length: 60 }, (_, at) => ({ at }))
const lists = fc.shuffledSubarray(POOL).chain((list) =>
  fc.constantFrom(
    list,
    list.toSorted((a, b) => a.at - b.at),
  ),
)

describe('listChanges', () => {
  it('turns the earlier list into the later one, whatever was added, removed and moved', () => {
    fc.assert(
      fc.property(lists, lists, (before, now) => {
        const changes = listChanges(before, now)
        expect(withChanges(before, changes)).toEqual(now)
        for (const { at, removed } of changes) expect(before.slice(at, at + removed.length)).toEqual(removed)
      }),
    )
  })

  it('is found once for two lists, unless it was noted for them', () => {
    const [one, two, three] = [[POOL[0]], [POOL[1]], [POOL[2]]]
    const changes = listChanges(one, three)
    expect(listChanges(one, three)).toBe(changes)
    expect(listChanges(two, three)).toEqual([{ at: 0, removed: two, added: three }])
    expect(listChanges(one, three)).toEqual(changes)
    const known = [{ at: 0, removed: one, added: two }]
    noteChanges(one, two, known)
    expect(listChanges(one, two)).toBe(known)
  })

  it('names no item that stayed in order', () => {
    fc.assert(
      fc.property(fc.subarray(POOL), fc.subarray(POOL), (before, now) => {
        const changes = listChanges(before, now)
        expect(changes.flatMap(({ removed }) => removed)).toEqual(before.filter((item) => !now.includes(item)))
        expect(changes.flatMap(({ added }) => added)).toEqual(now.filter((item) => !before.includes(item)))
      }),
    )
  })

  it('finds changes far apart, and long ones', () => {
    const list = Array.from({ length: 1000 }, (_, at) => ({ at }))
    const [one, two] = [{ at: -1 }, { at: -2 }]
    expect(listChanges(list, list.with(10, one).with(990, two))).toEqual([
      { at: 10, removed: [{ at: 10 }], added: [one] },
      { at: 990, removed: [{ at: 990 }], added: [two] },
    ])
    const many = Array.from({ length: 100 }, () => ({ at: -3 }))
    expect(listChanges(list, list.toSpliced(500, 0, ...many).with(0, one))).toEqual([
      { at: 0, removed: [{ at: 0 }], added: [one] },
      { at: 500, removed: [], added: many },
    ])
    expect(listChanges(list, [...list])).toEqual([])
    expect(listChanges([], list)).toEqual([{ at: 0, removed: [], added: list }])
  })

  it('stops when more items were removed or added than requested', () => {
    fc.assert(
      fc.property(lists, lists, fc.nat({ max: 40 }), (before, now, itemsMax) => {
        const changes = listChanges(before, now)
        const items = changes.reduce((sum, { removed, added }) => sum + Math.max(removed.length, added.length), 0)
        expect(listChangesUpTo(itemsMax, before, now)).toEqual(items > itemsMax ? undefined : changes)
      }),
    )
  })
})
