// Keeps what has not changed identical from one translation to the next, so that readers can skip it by identity.
import { isIdentical } from '#api/incremental/identical.ts'
import { isSame } from '#api/incremental/same.ts'

/** The earlier one if both are equal. */
export function same<T>(before: T | undefined, now: T): T {
  return before !== undefined && isSame(before, now) ? before : now
}

/** As `same` for each item, and for the list itself. */
export function sameList<T>(before: KeptList<T>, now: readonly T[], keyOf: (item: T) => string): KeptList<T> {
  // Most items are at the same place as last time.
  const list = now.map((item, index) => {
    const at = before.list[index]
    if (at === item) return item
    return same(at !== undefined && keyOf(at) === keyOf(item) ? at : before.byKey().get(keyOf(item)), item)
  })
  return isIdentical(before.list, list) ? before : keptList(list, keyOf)
}

export interface KeptList<T> {
  readonly list: T[]
  readonly byKey: () => ReadonlyMap<string, T>
}

export function keptList<T>(list: T[], keyOf: (item: T) => string): KeptList<T> {
  let byKey: ReadonlyMap<string, T> | undefined
  return { list, byKey: () => (byKey ??= new Map(list.map((item) => [keyOf(item), item]))) }
}

/** A copy without spare room, for lists that are kept by thousands: one that grows has room for 17 items at once. */
export function fitted<T>(list: readonly T[]): T[] {
  return list.slice()
}

/** The earlier object where every field is the same object or value. */
export function sameFields<T extends object>(before: T | undefined, now: T): T {
  if (before === undefined) return now
  return isIdentical(Object.values(before), Object.values(now)) ? before : now
}

export function isSameSet<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a === b || (a.size === b.size && [...a].every((value) => b.has(value)))
}

/** The same values under the same keys, in the same order. */
export function isSameInOrder<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  const others = b.entries()
  for (const [key, value] of a) {
    const { value: other } = others.next()
    if (other === undefined || other[0] !== key || other[1] !== value) return false
  }
  return true
}

/** The same values under the same keys, in any order. */
export function isSameMap<K>(a: ReadonlyMap<K, unknown>, b: ReadonlyMap<K, unknown>): boolean {
  return a === b || (a.size === b.size && [...a].every(([key, value]) => b.has(key) && b.get(key) === value))
}
