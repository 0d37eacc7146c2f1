// What changed since: how a list differs from the one it was before. Whoever makes something of a list again and again
// carries on from there, so that a change costs what changed and a glance at each place, not a look at each item.
import { type ListChange, sameEnds } from '#api/list-change.ts'

/** Where more than one place differs, each is one item for one: places stay. */
export type Edit<T> = ListChange<T>

/** With more than this share of the list, within these bounds, going through all of it is cheaper. */
const EDITED_MIN = 64
const EDITED_SHARE = 1 / 16
const EDITED_MAX = 1024

const NO_EDITS: readonly never[] = []

/** How a list came from an earlier one. Weak, or each list would keep all before it. */
interface Origin {
  readonly before: WeakRef<readonly unknown[]>
  readonly edits: readonly Edit<unknown>[] | undefined
}

/** Several stages look at one list, and compare it with the same one. */
const origins = new WeakMap<readonly unknown[], Origin>()
/** Shorter lists are compared as quickly. */
const LONG = 256

/** undefined: they have too little in common. Lists that are compared must not be changed in place. */
export function editsBetween<T>(before: readonly T[], now: readonly T[]): readonly Edit<T>[] | undefined {
  if (before === now) return NO_EDITS
  const origin = now.length < LONG ? undefined : origins.get(now)
  // Of these very lists.
  if (origin?.before.deref() === before) return origin.edits as readonly Edit<T>[] | undefined
  const most = Math.min(Math.max(EDITED_MIN, now.length * EDITED_SHARE), EDITED_MAX)
  const edits = before.length === now.length ? replacements(before, now, most) : splice(before, now, most)
  remember(now, before, edits)
  return edits
}

function remember<T>(list: readonly T[], before: readonly T[], edits: readonly Edit<T>[] | undefined): void {
  if (list.length >= LONG) origins.set(list, { before: new WeakRef(before), edits })
}

function replacements<T>(before: readonly T[], now: readonly T[], most: number): readonly Edit<T>[] | undefined {
  const edits: Edit<T>[] = []
  for (let at = 0; at < now.length; at++) {
    if (before[at] === now[at]) continue
    if (edits.length >= most) return undefined
    edits.push({ at, removed: before.slice(at, at + 1), added: now.slice(at, at + 1) })
  }
  return edits
}

function splice<T>(before: readonly T[], now: readonly T[], most: number): readonly Edit<T>[] | undefined {
  const [at, rest] = sameEnds(before, now)
  const removed = before.slice(at, before.length - rest)
  const added = now.slice(at, now.length - rest)
  return removed.length + added.length > most ? undefined : [{ at, removed, added }]
}

/** A copy with the edits made. */
export function edited<T>(list: readonly T[], edits: readonly Edit<T>[]): T[] {
  const copy = list.slice()
  for (const { at, removed, added } of edits) {
    const [one] = added
    if (one !== undefined && removed.length === 1 && added.length === 1) copy[at] = one
    else copy.splice(at, removed.length, ...added)
  }
  remember(copy, list, edits)
  return copy
}
