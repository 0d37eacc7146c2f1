// What changed between two versions of a list, by the identity of its items: the one notion of change, from the objects
// of a cluster to the tables of a worker. Compares places of items, never their content: thousands of unchanged items
// cost almost nothing. Pure.
import { ListNotes } from './list-notes.ts'

/** Items before it and behind it are the same objects, in the same order. What moved is removed and added. */
export interface ListChange<T> {
  /** Place in the earlier list. */
  readonly at: number
  readonly removed: readonly T[]
  readonly added: readonly T[]
}

/** Up to this number of items added or removed at one place are found by searching ahead; for more a map is built. */
const LOOK_AHEAD = 8

type Changes = readonly ListChange<unknown>[]

/**
 * Changes of more items are kept only while they are read: they hold the items of the earlier list, as all objects of a
 * configuration before a new one, and would do so until the later list changes again.
 */
const KEPT_ITEMS_MAX = 1024

const noted = new ListNotes<Changes | WeakRef<Changes>>()

/** In order, of the earlier list. Found once, however many ask: neither list may change any more. */
export function listChanges<T>(before: readonly T[], now: readonly T[]): readonly ListChange<T>[] {
  if (before === now) return []
  const known = notedChanges(before, now)
  if (known !== undefined) return known
  const changes = listChangesUpTo(Infinity, before, now) ?? []
  noteChanges(before, now, changes)
  return changes
}

/** Called by the code that derived the later list from the earlier one: no code has to compare them then. */
export function noteChanges<T>(before: readonly T[], now: readonly T[], changes: readonly ListChange<T>[]): void {
  noted.set(before, now, itemsOf(changes) > KEPT_ITEMS_MAX ? new WeakRef(changes) : changes)
}

/** Of exactly these lists; undefined: not noted, or large and not read for a while. */
export function notedChanges<T>(before: readonly T[], now: readonly T[]): readonly ListChange<T>[] | undefined {
  const note = noted.of(before, now)?.note
  // Of these very lists, so their items are T.
  return (note instanceof WeakRef ? note.deref() : note) as readonly ListChange<T>[] | undefined
}

/** Items that came in the place of others count once. */
export function itemsOf(changes: readonly ListChange<unknown>[]): number {
  return changes.reduce((sum, { removed, added }) => sum + Math.max(removed.length, added.length), 0)
}

/**
 * As `listChanges`; undefined where more than `itemsMax` items went or came. Items that came in the place of others
 * count once.
 */
export function listChangesUpTo<T>(
  itemsMax: number,
  before: readonly T[],
  now: readonly T[],
): readonly ListChange<T>[] | undefined {
  if (before === now) return []
  if (Math.abs(before.length - now.length) > itemsMax) return undefined
  const [start, rest] = sameEnds(before, now)
  const [beforeEnd, nowEnd] = [before.length - rest, now.length - rest]
  const changes: ListChange<T>[] = []
  const meet = meetingPlaces(before, now, { beforeEnd, nowEnd })
  let [i, j] = [start, start]
  let items = 0
  while (i < beforeEnd || j < nowEnd) {
    if (i < beforeEnd && j < nowEnd && before[i] === now[j]) {
      i++
      j++
      continue
    }
    const [nextI, nextJ] = meet(i, j)
    items += Math.max(nextI - i, nextJ - j)
    if (items > itemsMax) return undefined
    changes.push({ at: i, removed: before.slice(i, nextI), added: now.slice(j, nextJ) })
    i = nextI
    j = nextJ
  }
  return changes
}

/** A copy of the earlier list with the changes made. */
export function withChanges<T>(before: readonly T[], changes: readonly ListChange<T>[]): T[] {
  const list = before.slice()
  makeChanges(list, changes)
  return list
}

/** The same in place, for a list that belongs to the caller alone. */
export function makeChanges<T>(list: T[], changes: readonly ListChange<T>[]): void {
  // From the end, so that places before stay those of the earlier list.
  for (const { at, removed, added } of changes.toReversed()) {
    const [one] = added
    if (one !== undefined && removed.length === 1 && added.length === 1) list[at] = one
    else list.splice(at, removed.length, ...added)
  }
}

/** How many items stay at the start, and how many of the others at the end: most lists change in the middle. */
function sameEnds(before: readonly unknown[], now: readonly unknown[]): readonly [start: number, rest: number] {
  const shorter = Math.min(before.length, now.length)
  let start = 0
  while (start < shorter && before[start] === now[start]) start++
  let rest = 0
  while (rest < shorter - start && before[before.length - 1 - rest] === now[now.length - 1 - rest]) rest++
  return [start, rest]
}

type PositionPair = readonly [before: number, now: number]

/** Where two lists that differ at a place become equal again; their ends if they do not. */
function meetingPlaces(
  before: readonly unknown[],
  now: readonly unknown[],
  { beforeEnd, nowEnd }: { readonly beforeEnd: number; readonly nowEnd: number },
): (i: number, j: number) => PositionPair {
  let places: ReadonlyMap<unknown, number> | undefined
  const isMeeting = (a: number, b: number): boolean =>
    a < beforeEnd && b < nowEnd ? before[a] === now[b] : a === beforeEnd && b === nowEnd
  return (i, j) => {
    for (let steps = 1; steps <= LOOK_AHEAD; steps++) {
      for (let gone = 0; gone <= steps; gone++) {
        if (isMeeting(i + gone, j + steps - gone)) return [i + gone, j + steps - gone]
      }
    }
    places ??= new Map(before.slice(i, beforeEnd).map((item, at) => [item, i + at]))
    for (let b = j; b < nowEnd; b++) {
      const a = places.get(now[b])
      if (a !== undefined && a >= i) return [a, b]
    }
    return [beforeEnd, nowEnd]
  }
}
