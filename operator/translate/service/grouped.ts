// Objects by something that they name, such as EndpointSlices by their Service, and which groups an edit touched.
import { type Edit, editsBetween } from '../changes.ts'
import type { KubeObject } from '../kube.ts'
import { compareByAge } from '../order.ts'

export interface Grouped<T> {
  /** Keys of groups that are others than before; undefined: any may be. */
  enter(objects: readonly T[]): ReadonlySet<string> | undefined
  /** Older first. A group that is not touched is the same list. */
  get(key: string): readonly T[]
}

const NONE: readonly never[] = []

/** An object without a key is in no group. To be entered in order of age. */
export function grouped<T extends KubeObject>(keyOf: KeyOf<T>): Grouped<T> {
  let entered: readonly T[] = []
  let groups = new Map<string, readonly T[]>()
  return {
    enter(objects) {
      const edits = editsBetween(entered, objects)
      entered = objects
      if (edits === undefined) groups = groupsOf(objects, keyOf)
      return edits && touchedBy(edits, groups, keyOf)
    },
    get: (key) => groups.get(key) ?? NONE,
  }
}

type KeyOf<T> = (object: T) => string | undefined

function groupsOf<T>(objects: readonly T[], keyOf: KeyOf<T>): Map<string, readonly T[]> {
  const groups = new Map<string, readonly T[]>()
  for (const [key, own] of Map.groupBy(objects, keyOf)) if (key !== undefined) groups.set(key, own)
  return groups
}

/** Brings the groups up to date. */
function touchedBy<T extends KubeObject>(
  edits: readonly Edit<T>[],
  groups: Map<string, readonly T[]>,
  keyOf: KeyOf<T>,
): ReadonlySet<string> {
  const removed = groupsOf(
    edits.flatMap((edit) => edit.removed),
    keyOf,
  )
  const added = groupsOf(
    edits.flatMap((edit) => edit.added),
    keyOf,
  )
  const touched = new Set([...removed.keys(), ...added.keys()])
  for (const key of touched) {
    const gone = new Set(removed.get(key))
    const kept = (groups.get(key) ?? NONE).filter((one) => !gone.has(one))
    const now = [...kept, ...(added.get(key) ?? NONE)].sort(compareByAge)
    if (now.length === 0) groups.delete(key)
    else groups.set(key, now)
  }
  return touched
}
