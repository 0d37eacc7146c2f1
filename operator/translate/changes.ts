// The changes of lists of objects (api/list-change.ts), found once for all stages that look at a list: a list remembers
// how it came from the one before it, and lists with too little in common are not worth telling apart.
import { type ListChange, listChangesUpTo, withChanges } from '#api/list-change.ts'
import { listId } from '#api/list-id.ts'

/** With more than this share of the list, within these bounds, going through all of it is cheaper. */
const CHANGED_MIN = 64
const CHANGED_SHARE = 1 / 16
const CHANGED_MAX = 1024

/** How a list came from an earlier one, which is named by its number. */
interface Origin {
  readonly before: number
  readonly changes: readonly ListChange<unknown>[] | undefined
}

/** Several stages look at one list, and compare it with the same one. */
const origins = new WeakMap<readonly unknown[], Origin>()
/** Shorter lists are compared as quickly. */
const LONG = 256

/** undefined: they have too little in common. Lists that are compared must not be changed in place. */
export function changesBetween<T>(before: readonly T[], now: readonly T[]): readonly ListChange<T>[] | undefined {
  const origin = now.length < LONG ? undefined : origins.get(now)
  // Of these very lists.
  if (origin !== undefined && origin.before === listId(before))
    return origin.changes as readonly ListChange<T>[] | undefined
  const itemsMax = Math.min(Math.max(CHANGED_MIN, now.length * CHANGED_SHARE), CHANGED_MAX)
  const changes = listChangesUpTo(itemsMax, before, now)
  if (before !== now) remember(now, before, changes)
  return changes
}

/** A copy with the changes made, which it remembers. */
export function changed<T>(list: readonly T[], changes: readonly ListChange<T>[]): T[] {
  const copy = withChanges(list, changes)
  remember(copy, list, changes)
  return copy
}

function remember<T>(list: readonly T[], before: readonly T[], changes: readonly ListChange<T>[] | undefined): void {
  if (list.length >= LONG) origins.set(list, { before: listId(before), changes })
}
