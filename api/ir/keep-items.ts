// Keeps the items of an earlier configuration that are equal in a later one: what was derived from such an item, or
// sent about it, stays valid. Pure.
import { isIdentical } from '../incremental/identical.ts'
import { isSame } from '../incremental/same.ts'
import { listChanges } from '../incremental/list-change.ts'
import { keyOfItem, LIST_NAMES, type ListName } from './lists.ts'
import type { RenderedConfig } from './types.gen.ts'

/** `now`, with the objects of `before` for equal items, and the lists of `before` if all items are equal. */
export function keepItems(before: RenderedConfig, now: RenderedConfig): RenderedConfig {
  const lists = LIST_NAMES.map((name) => {
    const items: object[] = kept<object>(before[name], now[name], (item) => keyOfItem(name, item))
    return [name, items]
  })
  // Each list has items of `before` or `now`, which are of its kind.
  return { ...now, ...Object.fromEntries(lists) }
}

/** As `keepItems`, for lists most of whose items are other objects: a source may create all of them again. */
export function keepItemsOfNewLists(before: RenderedConfig, now: RenderedConfig): RenderedConfig {
  const lists = LIST_NAMES.filter((name) => {
    const changes = listChanges<object>(before[name], now[name])
    return changes.reduce((sum, { added }) => sum + added.length, 0) * 2 > now[name].length
  })
  if (lists.length === 0) return now
  const others = LIST_NAMES.filter((name) => !lists.includes(name))
  return keepItems({ ...before, ...listsOf(now, others) }, now)
}

function listsOf(config: RenderedConfig, names: readonly ListName[]): Partial<RenderedConfig> {
  return Object.fromEntries(names.map((name) => [name, config[name]]))
}

function kept<T>(before: T[], now: T[], nameOf: (item: T) => string): T[] {
  let byName: Map<string, T> | undefined
  const find = (item: T, place: number): T | undefined => {
    // Most items are where they were.
    const there = before[place]
    if (there !== undefined && nameOf(there) === nameOf(item)) return there
    byName ??= new Map(before.map((one) => [nameOf(one), one]))
    return byName.get(nameOf(item))
  }
  if (before === now) return before
  const taken = new Set<T>()
  const list = now.map((item, place) => {
    const known = find(item, place)
    if (known === undefined || taken.has(known) || !isSame(known, item)) return item
    // No object is in a list twice.
    taken.add(known)
    return known
  })
  return isIdentical(list, before) ? before : list
}
