// Results for lists that change: updated with the changes since the last time. Each function returns the result for the
// whole list, and the same object when nothing in it has changed. Callbacks must return the same for the same item, and
// items are not changed in place.
import { isIdentical } from '#api/incremental/identical.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { changed, changesBetween } from './changes.ts'

/** The result for each item. `before`: the result for the previous item at its place, if it is known. */
export function mapped<A, B extends object>(
  map: (item: A, before: B | undefined) => B,
): (items: readonly A[]) => readonly B[] {
  let items: readonly A[] = []
  let results: readonly B[] = []
  return (now) => {
    if (now === items) return results
    const edits = changesBetween(items, now)
    const next = edits === undefined ? mappedAll({ items, results }, now, map) : mappedEdits(results, edits, map)
    items = now
    return (results = next)
  }
}

interface Mapped<A, B> {
  readonly items: readonly A[]
  readonly results: readonly B[]
}

function mappedAll<A, B>(
  { items, results }: Mapped<A, B>,
  now: readonly A[],
  map: (item: A, before: B | undefined) => B,
): readonly B[] {
  const known = new Map(items.map((item, at) => [item, results[at]]))
  const all = now.map((item) => known.get(item) ?? map(item, undefined))
  return isIdentical(results, all) ? results : all
}

function mappedEdits<A, B extends object>(
  results: readonly B[],
  edits: readonly ListChange<A>[],
  map: (item: A, before: B | undefined) => B,
): readonly B[] {
  const changes = edits.flatMap(({ at, removed, added }): ListChange<B>[] => {
    const old = results.slice(at, at + removed.length)
    const isOneForOne = old.length === added.length
    const made = added.map((item, place) => map(item, isOneForOne ? old[place] : undefined))
    return isIdentical(old, made) ? [] : [{ at, removed: old, added: made }]
  })
  return changes.length === 0 ? results : changed(results, changes)
}

/** The parts of all items, one after the other. No object is part of two items. */
export function flatMapped<A, B extends object>(
  partsOf: (item: A) => readonly B[],
): (items: readonly A[]) => readonly B[] {
  let items: readonly A[] = []
  let result: readonly B[] = []
  return (now) => {
    if (now === items) return result
    const before = items
    const edits = changesBetween(before, now)
    const carried =
      edits &&
      withParts(
        result,
        edits.map(({ at, removed, added }) => ({
          before: removed.flatMap(partsOf),
          now: added.flatMap(partsOf),
          previous: () => lastPartBefore(before, at, partsOf),
        })),
      )
    items = now
    if (carried !== undefined) return (result = carried)
    const all = now.flatMap(partsOf)
    return (result = isIdentical(result, all) ? result : all)
  }
}

/** Replaces the parts of some items. */
export interface PartsEdit<B> {
  readonly before: readonly B[]
  readonly now: readonly B[]
  /** The last part of all items in front of these, as they were; undefined: they have none. */
  readonly previous: () => B | undefined
}

/** Of the items in front of a place. */
export function lastPartBefore<A, B>(
  items: readonly A[],
  place: number,
  partsOf: (item: A) => readonly B[],
): B | undefined {
  for (let at = place - 1; at >= 0; at--) {
    const item = items[at]
    const part = item === undefined ? undefined : partsOf(item).at(-1)
    if (part !== undefined) return part
  }
  return undefined
}

/** `edits`: from the first place to the last. undefined: the list does not match them. */
export function withParts<B extends object>(
  list: readonly B[],
  edits: readonly PartsEdit<B>[],
): readonly B[] | undefined {
  const changes = edits.filter(({ before, now }) => !isIdentical(before, now))
  if (changes.length === 0) return list
  const placed: ListChange<B>[] = []
  let from = 0
  for (const { before, now, previous } of changes) {
    const at = placeOfParts(list, { before, previous, from })
    if (at === undefined) return undefined
    placed.push({ at, removed: before, added: now })
    from = at + before.length
  }
  return changed(list, placed)
}

/** `from`: the place behind the parts of the edit before. */
function placeOfParts<B extends object>(
  list: readonly B[],
  { before, previous, from }: Pick<PartsEdit<B>, 'before' | 'previous'> & { readonly from: number },
): number | undefined {
  const [first] = before
  if (first !== undefined) return foundAt(list.indexOf(first, from))
  const last = previous()
  if (last === undefined) return from === 0 ? 0 : undefined
  const at = foundAt(list.indexOf(last, Math.max(from - 1, 0)))
  return at === undefined ? undefined : at + 1
}

function foundAt(place: number): number | undefined {
  return place === -1 ? undefined : place
}

/** The results for all items, one after the other. `before`: as of `mapped`. */
export function mappedParts<A, B extends object>(
  partsOf: (item: A, before: readonly B[] | undefined) => readonly B[],
): (items: readonly A[]) => readonly B[] {
  const parts = mapped(partsOf)
  const all = flatMapped((part: readonly B[]) => part)
  return (items) => all(parts(items))
}

/** One list behind the other; the same as last time for the same ones, and the only one that has items itself. */
export function joined<T>(): (...lists: readonly (readonly T[])[]) => readonly T[] {
  let last: { readonly lists: readonly (readonly T[])[]; readonly all: readonly T[] } | undefined
  return (...lists) => {
    if (last === undefined || !isIdentical(last.lists, lists)) {
      const [first = [], ...others] = lists.filter(({ length }) => length > 0)
      last = { lists, all: others.length === 0 ? first : first.concat(...others) }
    }
    return last.all
  }
}

/** How many times the items have each key. */
export function tally<A, K>(keysOf: (item: A) => readonly K[]): (items: readonly A[]) => ReadonlyMap<K, number> {
  return sums((item) => keysOf(item).map((key) => [key, 1] as const))
}

/** By key, the sum of the weights that the items give it. */
export function sums<A, K>(
  weightsOf: (item: A) => Iterable<readonly [K, number]>,
): (items: readonly A[]) => ReadonlyMap<K, number> {
  let items: readonly A[] = []
  let counts: ReadonlyMap<K, number> = new Map()
  return (now) => {
    if (now === items) return counts
    counts = withCounts(counts, moreBetween(items, now, weightsOf))
    items = now
    return counts
  }
}

/** As `tally`, where most items have keys of their own: a version of the counts shares unchanged ones with the last. */
export function keyCounts<A>(keysOf: (item: A) => readonly string[]): (items: readonly A[]) => LayeredMap<number> {
  let items: readonly A[] = []
  let counts = LayeredMap.of<number>()
  return (now) => {
    if (now === items) return counts
    const more = moreBetween(items, now, (item) => keysOf(item).map((key) => [key, 1] as const))
    const changes = [...more].flatMap(([key, by]) => {
      const sum = (counts.get(key) ?? 0) + by
      return by === 0 ? [] : [[key, sum === 0 ? undefined : sum] as const]
    })
    items = now
    return changes.length === 0 ? counts : (counts = counts.with(changes))
  }
}

/** By key, how much the sum of the weights has grown. */
function moreBetween<A, K>(
  items: readonly A[],
  now: readonly A[],
  weightsOf: (item: A) => Iterable<readonly [K, number]>,
): ReadonlyMap<K, number> {
  const edits = changesBetween(items, now)
  const removed = edits?.flatMap((edit) => edit.removed) ?? items
  const added = edits?.flatMap((edit) => edit.added) ?? now
  const more = new Map<K, number>()
  for (const item of removed) for (const [key, by] of weightsOf(item)) more.set(key, (more.get(key) ?? 0) - by)
  for (const item of added) for (const [key, by] of weightsOf(item)) more.set(key, (more.get(key) ?? 0) + by)
  return more
}

function withCounts<K>(counts: ReadonlyMap<K, number>, more: ReadonlyMap<K, number>): ReadonlyMap<K, number> {
  if ([...more.values()].every((count) => count === 0)) return counts
  const now = new Map(counts)
  for (const [key, count] of more) {
    const sum = (now.get(key) ?? 0) + count
    if (sum === 0) now.delete(key)
    else now.set(key, sum)
  }
  return now
}
