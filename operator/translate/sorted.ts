// A sorted list that is read repeatedly with few changes: removes deleted items from the last order, and inserts new
// items.
import { isIdentical } from '#api/incremental/identical.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { lowerBound } from '#api/incremental/lower-bound.ts'
import { changed, changesBetween, replacements } from './changes.ts'
import { compareText } from './order.ts'

export interface SortedParts<A extends object, T extends object> {
  /**
   * The parts of all items of all lists, in order of their keys, which differ from each other. The same list when the
   * parts are the same.
   */
  of(...lists: readonly (readonly A[])[]): T[]
}

export type Sorted<T extends object> = SortedParts<T, T>

/** `partsOf`: the same for the same item. Makes no list of all parts on the way, which every change would copy. */
export function sortedParts<A extends object, T extends object>(
  partsOf: (item: A) => readonly T[],
  keyOf: (item: T) => string,
): SortedParts<A, T> {
  let asked: readonly (readonly A[])[] = []
  let last: T[] = []
  return {
    of(...lists) {
      const before = asked
      asked = lists
      const edits = editsOfParts(before, lists, partsOf)
      if (edits?.length === 0) return last
      return (last = (edits && withEdits(last, edits, keyOf)) ?? byKey(lists.flat().flatMap(partsOf), keyOf))
    },
  }
}

export function sorted<T extends object>(keyOf: (item: T) => string): Sorted<T> {
  return sortedParts((item: T) => [item], keyOf)
}

/** Their places count for nothing. undefined: too many. */
function editsOfParts<A, T>(
  before: readonly (readonly A[])[],
  now: readonly (readonly A[])[],
  partsOf: (item: A) => readonly T[],
): readonly ListChange<T>[] | undefined {
  const all: ListChange<T>[] = []
  for (let place = 0; place < Math.max(before.length, now.length); place++) {
    const edits = changesBetween(before[place] ?? [], now[place] ?? [])
    if (edits === undefined) return undefined
    for (const { at, removed, added } of edits) {
      const [gone, come] = [removed.flatMap(partsOf), added.flatMap(partsOf)]
      if (!isIdentical(gone, come)) all.push({ at, removed: gone, added: come })
    }
  }
  return all
}

/** undefined: an item is not at the place of its key. */
function withEdits<T>(
  last: readonly T[],
  edits: readonly ListChange<T>[],
  keyOf: (item: T) => string,
): T[] | undefined {
  const heirs = replacements(last, edits, {
    isHeir: (heir, item) => keyOf(heir) === keyOf(item),
    placeOf: (item) => placeOf(last, keyOf(item), keyOf),
  })
  if (heirs !== undefined) return changed(last, heirs)
  const list = last.slice()
  for (const { removed, added } of edits) {
    for (const [index, item] of removed.entries()) {
      const place = placeOf(list, keyOf(item), keyOf)
      if (list[place] !== item) return undefined
      const heir = added[index]
      // Usually another version of the same item.
      if (heir !== undefined && keyOf(heir) === keyOf(item)) list[place] = heir
      else list.splice(place, 1)
    }
  }
  for (const { removed, added } of edits) {
    for (const [index, item] of added.entries()) {
      const former = removed[index]
      if (former !== undefined && keyOf(former) === keyOf(item)) continue
      list.splice(placeOf(list, keyOf(item), keyOf), 0, item)
    }
  }
  return list
}

function byKey<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const keyed = items.map((item) => ({ key: keyOf(item), item }))
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ item }) => item)
}

/** Where the key is, or belongs. */
export function placeOf<T>(list: readonly T[], key: string, keyOf: (item: T) => string): number {
  return lowerBound(list.length, (place) => {
    const item = list[place]
    return item !== undefined && compareText(keyOf(item), key) < 0
  })
}
