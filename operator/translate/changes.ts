// The changes of lists of objects (api/incremental/list-change.ts), found once for all stages that read a list: a list
// keeps its difference from the previous one; lists with too little in common are not compared.
import {
  itemsOf,
  type ListChange,
  listChangesUpTo,
  noteChanges,
  notedChanges,
  withChanges,
} from '#api/incremental/list-change.ts'
import { ListNotes } from '#api/incremental/list-notes.ts'

/** With more changes than this share of the list, within these bounds, processing the whole list is cheaper. */
const CHANGED_MIN = 64
const CHANGED_SHARE = 1 / 16
const CHANGED_MAX = 1024

/** Several stages compare one list with the same previous one. False: they have too little in common. */
const compared = new ListNotes<boolean>()
/** Shorter lists are compared as quickly. */
const LONG = 256

/** undefined: they have too little in common. Lists that are compared must not be changed in place. */
export function changesBetween<T>(before: readonly T[], now: readonly T[]): readonly ListChange<T>[] | undefined {
  const isNoted = now.length < LONG ? undefined : compared.of(before, now)?.note
  if (isNoted === false) return undefined
  const known = isNoted === true ? notedChanges(before, now) : undefined
  if (known !== undefined) return known
  const itemsMax = Math.min(Math.max(CHANGED_MIN, now.length * CHANGED_SHARE), CHANGED_MAX)
  const changes = fewNoted(itemsMax, before, now) ?? listChangesUpTo(itemsMax, before, now)
  if (before !== now) remember(now, before, changes)
  return changes
}

/** As the code noted them that made the list, unless there are more than `itemsMax`. */
function fewNoted<T>(itemsMax: number, before: readonly T[], now: readonly T[]): readonly ListChange<T>[] | undefined {
  const known = now.length < LONG ? undefined : notedChanges(before, now)
  return known !== undefined && itemsOf(known) <= itemsMax ? known : undefined
}

/** A copy with the changes made, which it remembers. */
export function changed<T>(list: readonly T[], changes: readonly ListChange<T>[]): T[] {
  const copy = withChanges(list, changes)
  remember(copy, list, changes)
  return copy
}

/**
 * Changes of a list as those of the same items in order, where every item comes in the place of another version of it,
 * as most do; undefined: some do not. `placeOf`: where an item is, or belongs.
 */
export function replacements<T>(
  ordered: readonly T[],
  changes: readonly ListChange<T>[],
  { isHeir, placeOf }: { readonly isHeir: (heir: T, item: T) => boolean; readonly placeOf: (item: T) => number },
): readonly ListChange<T>[] | undefined {
  const found: ListChange<T>[] = []
  for (const { removed, added } of changes) {
    if (removed.length !== added.length) return undefined
    for (const [index, item] of removed.entries()) {
      const heir = added[index]
      if (heir === undefined || !isHeir(heir, item)) return undefined
      const at = placeOf(item)
      if (ordered[at] !== item) return undefined
      found.push({ at, removed: [item], added: [heir] })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}

function remember<T>(list: readonly T[], before: readonly T[], changes: readonly ListChange<T>[] | undefined): void {
  if (list.length < LONG) return
  compared.set(before, list, changes !== undefined)
  if (changes !== undefined) noteChanges(before, list, changes)
}
