// The fields in which two objects differ. What counts is the effect: a patch can reach a field in many ways.
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json, type JsonObject } from '../kube-object.ts'
import { type FieldPath, shownBelow } from './field-path.ts'

export interface ChangedField {
  readonly path: FieldPath
  /** With a dot in front. */
  readonly shown: string
}

/** The deepest ones: a map that is new or gone counts field by field. */
export function changedFields(before: Json | undefined, after: Json | undefined): ChangedField[] {
  return differences(before, after, { path: [], shown: '' })
}

function differences(before: Json | undefined, after: Json | undefined, at: ChangedField): ChangedField[] {
  if (isDeepStrictEqual(before, after)) return []
  const maps = both(before, after, isJsonObject, {})
  if (maps !== undefined) return orWhole(mapDifferences(maps, at), at)
  const lists = both(before, after, isList, [])
  return lists === undefined ? [at] : listDifferences(lists, at)
}

interface Pair<T> {
  readonly before: T
  readonly after: T
}

/** Both are of the kind, or one is and the other is absent. */
function both<T extends Json>(
  before: Json | undefined,
  after: Json | undefined,
  isOfKind: (value: unknown) => value is T,
  absent: T,
): Pair<T> | undefined {
  const [first, second] = [before ?? absent, after ?? absent]
  if (before === null || after === null) return undefined
  return isOfKind(first) && isOfKind(second) ? { before: first, after: second } : undefined
}

function isList(value: unknown): value is Json[] {
  return Array.isArray(value)
}

/** A map without fields differs from no map. */
function orWhole(found: ChangedField[], at: ChangedField): ChangedField[] {
  return found.length > 0 ? found : [at]
}

function mapDifferences({ before, after }: Pair<JsonObject>, at: ChangedField): ChangedField[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => differences(own(before, name), own(after, name), below(at, name, false)))
}

function own(map: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/**
 * Item by item where all have a name of their own, and as a whole where they have not or stand in another order. The
 * name is a part of the path and no field.
 */
function listDifferences({ before, after }: Pair<Json[]>, at: ChangedField): ChangedField[] {
  const [first, second] = [byName(before), byName(after)]
  if (first === undefined || second === undefined) return [at]
  const stayed = [...first.keys()].filter((name) => second.has(name))
  const inOrder = [...second.keys()].filter((name) => first.has(name))
  if (!isDeepStrictEqual(stayed, inOrder)) return [at]
  const names = new Set([...first.keys(), ...second.keys()])
  const found = [...names].flatMap((name) => {
    const [old, young] = [first.get(name), second.get(name)]
    const item = below(at, name, true)
    if (old === undefined || young === undefined)
      return orWhole(mapDifferences({ before: old ?? {}, after: young ?? {} }, item), item)
    return mapDifferences({ before: old, after: young }, item)
  })
  return orWhole(found, at)
}

function byName(list: readonly Json[]): ReadonlyMap<string, JsonObject> | undefined {
  const named = new Map<string, JsonObject>()
  for (const item of list) {
    if (!isJsonObject(item)) return undefined
    const { name, ...fields } = item
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, fields)
  }
  return named
}

function below({ path, shown }: ChangedField, segment: string, isItem: boolean): ChangedField {
  return { path: [...path, segment], shown: shownBelow(shown, segment, isItem) }
}
