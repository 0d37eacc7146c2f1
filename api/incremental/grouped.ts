// A long list by key, updated from one version of the list to the next: the cost of a changed item does not grow with
// the list. For lists of objects in the operator, and of items of a configuration in the proxy. Pure.
import { isIdentical } from './identical.ts'
import { LayeredMap } from './layered-map.ts'
import { type ListChange, listChanges, noteChanges } from './list-change.ts'
import { lowerBound } from './lower-bound.ts'
import { eachOf, runAll, type Steps } from './steps.ts'

/** The same for the same item; an item may have several keys, or none. */
type KeysOf<T> = (item: T) => readonly string[]

/** With more changes at once the whole list is grouped again. */
const CHANGES_MAX = 64

/** Shorter groups are compared as quickly. */
const NOTED_MIN = 256

/** The empty list, always the same object. */
const NONE: readonly never[] = []

/** No item stands in a list twice. */
export class Grouped<T extends object> {
  readonly list: readonly T[]
  readonly #groups: LayeredMap<readonly T[]>
  readonly #keysOf: KeysOf<T>

  private constructor(list: readonly T[], groups: LayeredMap<readonly T[]>, keysOf: KeysOf<T>) {
    this.list = list
    this.#groups = groups
    this.#keysOf = keysOf
  }

  static of<T extends object>(list: readonly T[], keysOf: KeysOf<T>): Grouped<T> {
    return runAll(Grouped.stepsOf(list, keysOf))
  }

  /** `former`: of the previous list, with the same keys. */
  static *stepsOf<T extends object>(list: readonly T[], keysOf: KeysOf<T>, former?: Grouped<T>): Steps<Grouped<T>> {
    if (former !== undefined) return yield* former.#stepsAfter(list)
    return new Grouped<T>(list, LayeredMap.of(yield* groupsOf(list, keysOf)), keysOf)
  }

  /** In the order of the list. A group whose members stayed is the same list as before. */
  at(key: string): readonly T[] {
    return this.#groups.get(key) ?? NONE
  }

  /** Of groups that have members. In no order. */
  *keys(): IterableIterator<string> {
    for (const [key] of this.#groups.entries()) yield key
  }

  /** Stays as it is itself; it comes back when nothing has changed. */
  after(list: readonly T[]): Grouped<T> {
    return runAll(this.#stepsAfter(list))
  }

  *#stepsAfter(list: readonly T[]): Steps<Grouped<T>> {
    const changes = listChanges(this.list, list)
    if (changes.length === 0) return this
    const changed =
      (changes.length <= CHANGES_MAX && (yield* this.#changed(changes))) || (yield* this.#changedAnew(list))
    const groups: (readonly [string, readonly T[] | undefined])[] = []
    // An item that moved may stand in its group where it stood.
    yield* eachOf(changed, ([key, items]) => {
      if (!isIdentical(items, this.at(key))) groups.push([key, items.length === 0 ? undefined : items])
    })
    return new Grouped<T>(list, yield* this.#groups.stepsWith(groups), this.#keysOf)
  }

  /** Keys whose groups differ from those in `before`. */
  changedSince(before: Grouped<T>): readonly string[] {
    return this.#groups.since(before.#groups).map(([key]) => key)
  }

  /** undefined: the list does not match its groups, which would be a bug; grouping the whole list again is correct. */
  *#changed(changes: readonly ListChange<T>[]): Steps<ReadonlyMap<string, readonly T[]> | undefined> {
    const changed = new Map<string, T[]>()
    /** Of each of these groups, from the end. */
    const ofGroups = new Map<string, ListChange<T>[]>()
    // From the end, so that places before stay those of the earlier list.
    for (const { at, removed, added } of changes.toReversed()) {
      const [gone, come] = [yield* groupsOf(removed, this.#keysOf), yield* groupsOf(added, this.#keysOf)]
      let isMatching = true
      yield* eachOf(new Set([...gone.keys(), ...come.keys()]), (key) => {
        const own = changed.get(key)
        const items = own ?? this.at(key)
        const [out, into] = [gone.get(key) ?? NONE, come.get(key) ?? NONE]
        const start =
          out[0] === undefined
            ? this.#membersBefore(at, items, ofGroups.get(key)?.at(-1)?.at ?? items.length)
            : items.indexOf(out[0])
        isMatching &&= isIdentical(items.slice(start, start + out.length), out)
        // A list that grows in place gets room for 17 items at once: too much for thousands of groups.
        if (own !== undefined && into.length <= out.length) own.splice(start, out.length, ...into)
        else changed.set(key, items.toSpliced(start, out.length, ...into))
        const edits = ofGroups.get(key) ?? []
        edits.push({ at: start, removed: out, added: into })
        ofGroups.set(key, edits)
      })
      if (!isMatching) return undefined
    }
    for (const [key, edits] of ofGroups) {
      const items = changed.get(key) ?? NONE
      if (items.length >= NOTED_MIN) noteChanges(this.at(key), items, edits.toReversed())
    }
    return changed
  }

  /** How many of the first members stand before a place of the list. */
  #membersBefore(at: number, members: readonly T[], count: number): number {
    return lowerBound(count, (index) => {
      const member = members[index]
      return member !== undefined && this.list.indexOf(member) < at
    })
  }

  *#changedAnew(list: readonly T[]): Steps<ReadonlyMap<string, readonly T[]>> {
    const changed = new Map<string, readonly T[]>(yield* groupsOf(list, this.#keysOf))
    yield* eachOf(this.#groups.entries(), ([key]) => {
      if (!changed.has(key)) changed.set(key, NONE)
    })
    return changed
  }
}

function* groupsOf<T>(items: readonly T[], keysOf: KeysOf<T>): Steps<Map<string, T[]>> {
  const groups = new Map<string, T[]>()
  yield* eachOf(items, (item) => {
    const keys = keysOf(item)
    // Most items have one key.
    for (const key of keys.length > 1 ? new Set(keys) : keys) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [item])
      else group.push(item)
    }
  })
  return groups
}
