// Keeps what has not changed identical from one translation to the next, so that readers can skip it by identity.
import { isIdentical } from '#api/identical.ts'

/** The earlier one where both say the same. */
export function same<T>(before: T | undefined, now: T): T {
  return before !== undefined && isSame(before, now) ? before : now
}

/** As `same` for each item, and for the list itself. */
export function sameList<T>(before: KeptList<T>, now: readonly T[], keyOf: (item: T) => string): KeptList<T> {
  // Most items are at the place they were at last time.
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

/** The earlier object where every field is the same object or value. */
export function sameFields<T extends object>(before: T | undefined, now: T): T {
  if (before === undefined) return now
  return isIdentical(Object.values(before), Object.values(now)) ? before : now
}

/** Deep equality of plain data; identical parts are not looked into. An undefined field counts as absent. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (!Array.isArray(a)) return !Array.isArray(b) && areFieldsSame(a, b)
  return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]))
}

function areFieldsSame(a: object, b: object): boolean {
  for (const name of Object.keys(a)) if (!isSame(Reflect.get(a, name), fieldOf(b, name))) return false
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name) && Reflect.get(b, name) !== undefined) return false
  return true
}

function fieldOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
}
