// A sorted list that is read repeatedly with few changes: removes deleted items from the last order, and inserts new
// items.
import type { ListChange } from '#api/incremental/list-change.ts'
import { lowerBound } from '#api/incremental/lower-bound.ts'
import { changed, changesBetween, replacements } from './changes.ts'
import { compareText } from './order.ts'

export interface Sorted<T extends object> {
  /** In order of their keys, which differ from each other. The same list when the items are the same. */
  of(items: readonly T[]): T[]
}

export function sorted<T extends object>(keyOf: (item: T) => string): Sorted<T> {
  let asked: readonly T[] = []
  let last: T[] = []
  return {
    of(items) {
      const edits = changesBetween(asked, items)
      asked = items
      if (edits?.length === 0) return last
      return (last = (edits && withEdits(last, edits, keyOf)) ?? byKey(items, keyOf))
    },
  }
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
