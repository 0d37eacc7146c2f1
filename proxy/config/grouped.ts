// A long list of a configuration by key, kept up to date from one configuration to the next: what a changed item costs
// does not grow with the list, but for a look at each item. Pure.

export interface Grouped<T> {
  readonly list: readonly T[]
  /** In the order of the list. Groups whose members stayed are the same lists as before. */
  readonly groups: ReadonlyMap<string, readonly T[]>
}

/** `keysOf` gives the same for the same item; an item may have several keys, or none. `former` stays as it is. */
export function grouped<T extends object>(
  list: readonly T[],
  keysOf: (item: T) => readonly string[],
  former?: Grouped<T>,
): Grouped<T> {
  if (former?.list === list) return former
  const before: Grouped<T> = former ?? { list: [], groups: new Map() }
  const changed = changedGroups(before, list, keysOf)
  if (changed.size === 0) return { list, groups: before.groups }
  const groups = new Map(before.groups)
  for (const [key, items] of changed) {
    if (items.length > 0) groups.set(key, items)
    else groups.delete(key)
  }
  return { list, groups }
}

/** Those that an item left or came to, as they are now. */
function changedGroups<T extends object>(
  before: Grouped<T>,
  list: readonly T[],
  keysOf: (item: T) => readonly string[],
): ReadonlyMap<string, readonly T[]> {
  const { removed, added } = difference(before.list, list)
  const changed = new Map<string, T[]>()
  for (const item of [...removed, ...added]) for (const key of keysOf(item)) changed.set(key, [])
  const members = new Set([...changed.keys()].flatMap((key) => before.groups.get(key) ?? []))
  for (const item of removed) members.delete(item)
  for (const item of added) members.add(item)
  // In the order of the list.
  for (const item of members.size === 0 ? [] : list) {
    const keys = members.has(item) ? new Set(keysOf(item)) : NO_KEYS
    for (const key of keys) changed.get(key)?.push(item)
  }
  return changed
}

const NO_KEYS: Iterable<string> = []

/** Most items stay at both ends of the list. */
function difference<T>(
  before: readonly T[],
  now: readonly T[],
): { readonly removed: readonly T[]; readonly added: readonly T[] } {
  const shorter = Math.min(before.length, now.length)
  let start = 0
  while (start < shorter && before[start] === now[start]) start++
  let rest = 0
  while (rest < shorter - start && before[before.length - 1 - rest] === now[now.length - 1 - rest]) rest++
  return { removed: before.slice(start, before.length - rest), added: now.slice(start, now.length - rest) }
}
