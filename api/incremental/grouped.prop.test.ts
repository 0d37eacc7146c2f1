import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Grouped } from './grouped.ts'
import { notedChanges, withChanges } from './list-change.ts'

interface Item {
  readonly name: string
  readonly keys: readonly string[]
}

const KEYS = ['a', 'b', 'c', 'd', 'a']
const keysOf = ({ keys }: Item): readonly string[] => keys
const itemsOf = (count: number): Item[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `item ${at}`,
    keys: KEYS.filter((_key, bit) => ((at * 5 + 3) >> bit) % 2 === 1),
  }))

const POOL = itemsOf(40)
const byName = (a: Item, b: Item): number => POOL.indexOf(a) - POOL.indexOf(b)

/** In any order, and in one order as the lists of a configuration are. */
const lists = fc.array(
  fc.shuffledSubarray(POOL).chain((list) => fc.constantFrom(list, list.toSorted(byName), list.toSorted(byName))),
  { minLength: 1, maxLength: 8 },
)

function groups(grouped: Grouped<Item>): (readonly Item[])[] {
  return KEYS.map((key) => grouped.at(key))
}

describe('Grouped', () => {
  it('equals a first grouping, whatever the previous list was, and does not change the previous one', () => {
    fc.assert(
      fc.property(lists, (all) => {
        let former = Grouped.of<Item>([], keysOf)
        for (const list of all) {
          const before = groups(former)
          const now = former.after(list)
          expect(groups(now)).toEqual(KEYS.map((key) => list.filter(({ keys }) => keys.includes(key))))
          expect(groups(former)).toEqual(before)
          const changed = new Set(KEYS.filter((key) => former.at(key) !== now.at(key)))
          expect(new Set(now.changedSince(former))).toEqual(changed)
          for (const key of changed) expect(former.at(key)).not.toEqual(now.at(key))
          former = now
        }
      }),
    )
  })

  it('notes the changes of its long groups: items replaced, moved, added and removed', () => {
    const many = itemsOf(1200)
    /** Places, each with what happens there. */
    const steps = fc.array(fc.tuple(fc.nat({ max: 1199 }), fc.constantFrom('replace', 'move', 'add', 'remove')), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(steps, (changes) => {
        const list = [...many]
        for (const [at, change] of changes) {
          const item = list[at]
          if (item === undefined) continue
          if (change === 'replace') list[at] = { ...item }
          else if (change === 'add') list.splice(at, 0, { ...item })
          else list.splice(at, 1)
          if (change === 'move') list.splice((at * 7) % list.length, 0, item)
        }
        const before = Grouped.of<Item>(many, keysOf)
        const now = before.after(list)
        for (const key of now.changedSince(before)) {
          const noted = notedChanges(before.at(key), now.at(key))
          if (noted === undefined) throw new Error(`the changes of ${key} are not noted`)
          expect(withChanges(before.at(key), noted)).toEqual(list.filter(({ keys }) => keys.includes(key)))
        }
      }),
    )
  })

  it('accepts many changes at once', () => {
    const many = itemsOf(1000)
    const other = many.map((item, at) => (at % 3 === 0 ? { ...item } : item))
    const now = Grouped.of(many, keysOf).after(other)
    expect(groups(now)).toEqual(groups(Grouped.of(other, keysOf)))
  })

  it('keeps the order of the list, and the unchanged groups', () => {
    const [one, two, three] = ['1', '2', '3'].map((name) => ({ name, keys: [name === '3' ? 'y' : 'x'] }))
    if (one === undefined || two === undefined || three === undefined) throw new Error('three')
    const first = Grouped.of([one, two, three], keysOf)
    const other = { name: '2', keys: ['x'] }
    const second = first.after([one, other, three])
    expect(second.at('x')).toEqual([one, other])
    expect(second.at('y')).toBe(first.at('y'))
    expect(second.at('z')).toBe(first.at('z'))
    expect(second.after([...second.list])).toBe(second)
    expect(second.after([other, one, three]).at('x')).toEqual([other, one])
  })
})
