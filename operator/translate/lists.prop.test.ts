// What is carried on from list to list is what going through the whole list gives, and keeps its identity.
// @module-tag full
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changed, changesBetween } from './changes.ts'
import { flatMapped, keyCounts, mapped, tally } from './lists.ts'

interface Item {
  readonly id: number
  readonly parts: readonly object[]
}

const item = fc.tuple(fc.nat(), fc.nat({ max: 2 })).map(([id, count]): Item => {
  return { id, parts: Array.from({ length: count }, (_, part) => ({ id, part })) }
})

type Step = readonly (readonly [number, Item | undefined])[]

/** Each step puts items in the places of others, appends some, or takes some out. */
const histories = fc
  .tuple(
    fc.oneof(fc.array(item, { maxLength: 12 }), fc.array(item, { minLength: 300, maxLength: 310 })),
    fc.array(fc.array(fc.tuple(fc.nat(), fc.option(item, { nil: undefined })), { maxLength: 3 }), { maxLength: 8 }),
    fc.boolean(),
  )
  .map(([first, steps, keepsLength]) => {
    const lists: (readonly Item[])[] = [first]
    for (const step of steps) lists.push(after(lists.at(-1) ?? [], step, keepsLength))
    return [...lists, [...first], [], first]
  })

function after(list: readonly Item[], step: Step, keepsLength: boolean): readonly Item[] {
  const now = [...list]
  for (const [number, one] of step) {
    const at = number % (now.length + 1)
    if (one !== undefined) now[at] = one
    else if (!keepsLength) now.splice(at, 1)
  }
  return now
}

describe('lists', () => {
  it('equal the result for the whole list after each change', () => {
    fc.assert(
      fc.property(histories, (lists) => {
        const results = new WeakMap<Item, object>()
        const resultOf = (one: Item): object => {
          const known = results.get(one) ?? { id: one.id }
          results.set(one, known)
          return known
        }
        const [map, flat, count] = [mapped(resultOf), flatMapped(partsOf), tally(keysOf)]
        const countOfKeys = keyCounts((one: Item) => keysOf(one).map(String))
        for (const list of lists) {
          expectSame(map(list), list.map(resultOf))
          expectSame(flat(list), list.flatMap(partsOf))
          const counts = Map.groupBy(list.flatMap(keysOf), (key) => key)
          const expected = [...counts].map(([key, { length }]) => [key, length] as const)
          expect(new Map(count(list))).toEqual(new Map(expected))
          expect(new Map(countOfKeys(list).entries())).toEqual(
            new Map(expected.map(([key, sum]) => [String(key), sum])),
          )
          expect(countOfKeys([...list])).toBe(countOfKeys(list))
          const again = [...list]
          expect([map(again), flat(again), count(again)]).toEqual([map(list), flat(list), count(list)])
          expect(map(again)).toBe(map(list))
          expect(flat(again)).toBe(flat(list))
          expect(count(again)).toBe(count(list))
        }
      }),
    )
  })

  it('keep parts separate when items move by one place', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((word) => [{ word }])
    const flat = flatMapped((parts: readonly object[] | undefined) => parts ?? [])
    flat([a, b])
    expect(flat([b, c])).toEqual([{ word: 'b' }, { word: 'c' }])
  })

  it('maps an item with the result of the one it replaces, and changes nothing if both results are equal', () => {
    const map = mapped((one: { readonly word: string }, before: { readonly word: string } | undefined) =>
      before?.word === one.word ? before : { word: one.word },
    )
    const first = map([{ word: 'a' }, { word: 'b' }])
    expect(map([{ word: 'a' }, { word: 'b' }])).toBe(first)
    const second = map([{ word: 'a' }, { word: 'c' }])
    expect(second).toEqual([{ word: 'a' }, { word: 'c' }])
    expect(second[0]).toBe(first[0])
    expect(first).toEqual([{ word: 'a' }, { word: 'b' }])
  })
})

describe('changesBetween', () => {
  it('returns the changes that turn one list into the other', () => {
    fc.assert(
      fc.property(histories, (lists) => {
        for (const [at, now] of lists.entries()) {
          const before = lists[at - 1] ?? []
          const edits = changesBetween(before, now)
          const list = edits === undefined ? now : changed(before, edits)
          expect(list.every((one, place) => one === now[place]) && list.length === now.length).toBe(true)
        }
      }),
    )
  })

  it('names a few items, and stops when more differ', () => {
    const list = Array.from({ length: 100 }, (_, index) => ({ index }))
    const other = { index: -1 }
    expect(changesBetween(list, list.with(7, other))).toEqual([{ at: 7, removed: [list[7]], added: [other] }])
    expect(changesBetween(list, list.toSpliced(7, 2))).toEqual([{ at: 7, removed: list.slice(7, 9), added: [] }])
    expect(changesBetween(list, [...list, other])).toEqual([{ at: 100, removed: [], added: [other] }])
    expect(changesBetween(list, structuredClone(list).slice(0, 64).concat(list.slice(64)))).toHaveLength(1)
    expect(changesBetween(list, structuredClone(list).slice(0, 65).concat(list.slice(65)))).toBeUndefined()
    expect(changesBetween(list, list.slice(64))).toHaveLength(1)
    expect(changesBetween(list, list.toSpliced(90, 1).with(7, other))).toHaveLength(2)
    expect(changesBetween(list, list.slice(65))).toBeUndefined()
  })
})

function partsOf({ parts }: Item): readonly object[] {
  return parts
}

function keysOf({ id, parts }: Item): readonly number[] {
  return parts.map(() => id % 3)
}

function expectSame(list: readonly unknown[], expected: readonly unknown[]): void {
  expect(list.length).toBe(expected.length)
  for (const [index, one] of list.entries()) expect(one).toBe(expected[index])
}
