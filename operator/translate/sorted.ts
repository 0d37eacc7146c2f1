// A sorted list that is asked for again and again with few changes: the order of last time is kept, what is new is put
// in its place.
import { isIdentical } from '#api/identical.ts'
import { compareText } from './order.ts'

export interface Sorted<T extends object> {
  /** In order of their keys, which differ from each other. The same list when the items are the same. */
  of(items: readonly T[]): T[]
}

/** More new items than this share of the list: sorting is cheaper. */
const MERGE_SHARE = 0.1

export function sorted<T extends object>(keyOf: (item: T) => string): Sorted<T> {
  let last: T[] = []
  /** undefined: that of `asked`. */
  let known: ReadonlySet<T> | undefined
  let asked: readonly T[] = []
  const remember = (list: T[], items?: ReadonlySet<T>): T[] => {
    last = list
    known = items
    return list
  }
  return {
    of(items) {
      if (isIdentical(asked, items)) return last
      const replaced = withReplaced({ last, asked }, items, keyOf)
      if (replaced !== undefined) {
        asked = [...items]
        return remember(replaced)
      }
      const before = known ?? new Set(asked)
      asked = [...items]
      const now = new Set(items)
      const added = items.filter((item) => !before.has(item))
      if (added.length === 0 && now.size === before.size && items.length === last.length) return last
      if (now.size !== items.length || added.length > items.length * MERGE_SHARE) {
        return remember(byKey(items, keyOf), now)
      }
      const kept = last.filter((item) => now.has(item))
      return remember(added.length === 0 ? kept : merged(kept, byKey(added, keyOf), keyOf), now)
    },
  }
}

interface Known<T> {
  readonly last: readonly T[]
  readonly asked: readonly T[]
}

/** Nearly always some items are others, with their keys and at their places. undefined: it is not so. */
function withReplaced<T>({ last, asked }: Known<T>, items: readonly T[], keyOf: (item: T) => string): T[] | undefined {
  if (items.length !== asked.length || last.length !== asked.length) return undefined
  const result = [...last]
  let left = items.length * MERGE_SHARE
  for (let index = 0; index < items.length; index++) {
    const [before, now] = [asked[index], items[index]]
    if (before === now) continue
    if (before === undefined || now === undefined || keyOf(before) !== keyOf(now) || --left < 0) return undefined
    const place = firstAfter(last, keyOf(now), { keyOf, from: 0 }) - 1
    if (last[place] !== before) return undefined
    result[place] = now
  }
  return result
}

function byKey<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const keyed = items.map((item) => ({ key: keyOf(item), item }))
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ item }) => item)
}

/** Both in order. */
function merged<T>(kept: readonly T[], added: readonly T[], keyOf: (item: T) => string): T[] {
  const result: T[] = []
  let from = 0
  for (const item of added) {
    const to = firstAfter(kept, keyOf(item), { keyOf, from })
    for (; from < to; from++) {
      const before = kept[from]
      if (before !== undefined) result.push(before)
    }
    result.push(item)
  }
  return result.concat(kept.slice(from))
}

interface Search<T> {
  readonly keyOf: (item: T) => string
  readonly from: number
}

function firstAfter<T>(list: readonly T[], key: string, { keyOf, from }: Search<T>): number {
  let low = from
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = list[middle]
    if (item !== undefined && compareText(keyOf(item), key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
