// The cluster as translation sees it: known kinds, indexed, in one order. Does not depend on the meaning of objects.
import { isIdentical } from '#api/incremental/identical.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { lowerBound } from '#api/incremental/lower-bound.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { changed, changesBetween, replacements } from './changes.ts'
import { CORE_GROUP, DISCOVERY_GROUP, GATEWAY_GROUP, GW_GROUP, INFERENCE_GROUP } from './groups.ts'
import type { KubeObject } from './kube.ts'
import { groupOf, keyOf, nameKey, type ObjectRef, refOf } from './object-ref.ts'
import { compareByAge, compareText, sortedBy } from './order.ts'
import { hasShape, isNamedObject } from './shape.ts'
import type { SnapshotKind, SnapshotKinds } from './snapshot-kinds.ts'

export interface ObjectIndex<T> {
  /** Older first, then namespace, then name. */
  readonly all: readonly T[]
  /** Cluster-scoped objects have the namespace ''. */
  readonly get: (namespace: string, name: string) => T | undefined
}

export type Snapshot = { readonly [K in SnapshotKind]: ObjectIndex<SnapshotKinds[K]> } & {
  /** Objects of kinds that translation does not read, and second objects of one name. */
  readonly ignored: readonly ObjectRef[]
  /** Objects of known kinds that lack the shape of their kind. */
  readonly malformed: readonly ObjectRef[]
}

const GROUPS: { readonly [K in SnapshotKind]: string } = {
  GatewayClass: GATEWAY_GROUP,
  Gateway: GATEWAY_GROUP,
  ListenerSet: GATEWAY_GROUP,
  HTTPRoute: GATEWAY_GROUP,
  GRPCRoute: GATEWAY_GROUP,
  TCPRoute: GATEWAY_GROUP,
  TLSRoute: GATEWAY_GROUP,
  ReferenceGrant: GATEWAY_GROUP,
  BackendTLSPolicy: GATEWAY_GROUP,
  Namespace: CORE_GROUP,
  Service: CORE_GROUP,
  Secret: CORE_GROUP,
  ConfigMap: CORE_GROUP,
  EndpointSlice: DISCOVERY_GROUP,
  Node: CORE_GROUP,
  Pod: CORE_GROUP,
  InferencePool: INFERENCE_GROUP,
  GwBackend: GW_GROUP,
  GwModel: GW_GROUP,
  GwPolicy: GW_GROUP,
}

// Object.keys loses the names; the table has exactly these.
export const SNAPSHOT_KINDS = Object.keys(GROUPS) as readonly SnapshotKind[]

/** Drops objects without kind or name. The result does not depend on the order of `objects`. */
export function snapshotOf(objects: readonly KubeObject[]): Snapshot {
  return createSnapshotter()(objects)
}

/**
 * As snapshotOf, for a cluster that changes: kinds with unchanged objects keep their index. Pass one list for each
 * kind: lists with the same objects as before are not read again. Lists must not be changed in place.
 */
export function createSnapshotter(): (...lists: ReadonlyArray<readonly KubeObject[]>) => Snapshot {
  const indexes = new Map<SnapshotKind, KindIndex>()
  let known: readonly JudgedList[] = []
  return (...lists) => {
    known = lists.map((list, at) => judgedAfter(known[at], list))
    const ignored = known.flatMap((list) => list.ignored)
    const malformed = known.flatMap((list) => list.malformed)
    const index = (kind: SnapshotKind): KindIndex => {
      const now = indexAfter(indexes.get(kind), objectsOfKind(known, kind))
      indexes.set(kind, now)
      ignored.push(...now.second.map(refOf))
      return now
    }
    const parts = Object.fromEntries(SNAPSHOT_KINDS.map((kind) => [kind, index(kind).index]))
    return {
      // Objects are separated by kind above, and their shape is what the API server (or the validator) accepted.
      ...(parts as { readonly [K in SnapshotKind]: ObjectIndex<SnapshotKinds[K]> }),
      ignored: sortedBy(ignored, describeRef),
      malformed: sortedBy(malformed, describeRef),
    }
  }
}

/** One of the lists, and its objects by kind. */
interface JudgedList {
  readonly objects: readonly KubeObject[]
  readonly byKind: ReadonlyMap<SnapshotKind, readonly KubeObject[]>
  readonly ignored: readonly ObjectRef[]
  readonly malformed: readonly ObjectRef[]
}

function judgedAfter(before: JudgedList | undefined, objects: readonly KubeObject[]): JudgedList {
  if (before === undefined) return judged(objects)
  const edits = changesBetween(before.objects, objects)
  if (edits?.length === 0) return before
  const kind = onlyKind(before)
  const isOfKind = (one: KubeObject): boolean => judge(one) === kind
  const isCarriedOn = kind !== undefined && edits?.every(({ added }) => added.every(isOfKind)) === true
  if (!isCarriedOn) return judged(objects)
  return { objects, byKind: new Map([[kind, objects]]), ignored: [], malformed: [] }
}

/** The kind of all objects in the list; undefined: several kinds. */
function onlyKind({ byKind, objects }: JudgedList): SnapshotKind | undefined {
  const [[kind, list] = []] = byKind
  return list?.length === objects.length ? kind : undefined
}

function judged(objects: readonly KubeObject[]): JudgedList {
  const byKind = new Map<SnapshotKind, KubeObject[]>()
  const ignored: ObjectRef[] = []
  const malformed: ObjectRef[] = []
  for (const object of objects) {
    const verdict = judge(object)
    if (verdict === 'ignored') ignored.push(refOf(object))
    else if (verdict === 'malformed') malformed.push(refOf(object))
    else if (verdict !== 'nothing') listAt(byKind, verdict).push(object)
  }
  return { objects, byKind, ignored, malformed }
}

/** Of one list, where only one has the kind. */
function objectsOfKind(lists: readonly JudgedList[], kind: SnapshotKind): readonly KubeObject[] {
  const found = lists.flatMap(({ byKind }) => {
    const objects = byKind.get(kind)
    return objects === undefined ? [] : [objects]
  })
  return found.length === 1 ? (found[0] ?? []) : found.flat()
}

type ObjectVerdict = SnapshotKind | 'ignored' | 'malformed' | 'nothing'

/** A manifest may be anything. */
function judge(object: KubeObject): ObjectVerdict {
  if (!isNamedObject(object)) return 'nothing'
  const kind = kindOf(object)
  if (kind === undefined) return 'ignored'
  return hasShape(kind, object) ? kind : 'malformed'
}

function listAt<K>(lists: Map<K, KubeObject[]>, key: K): KubeObject[] {
  const known = lists.get(key)
  if (known !== undefined) return known
  const list: KubeObject[] = []
  lists.set(key, list)
  return list
}

function kindOf(object: KubeObject): SnapshotKind | undefined {
  if (!Object.hasOwn(GROUPS, object.kind)) return undefined
  // hasOwn above makes the kind a key of the table.
  const kind = object.kind as SnapshotKind
  return GROUPS[kind] === groupOf(object.apiVersion) ? kind : undefined
}

interface KindIndex {
  readonly index: ObjectIndex<KubeObject>
  /** The list it was made for. */
  readonly asked: readonly KubeObject[]
  /** All of the kind, in order. */
  readonly objects: readonly KubeObject[]
  /** Second objects of one name. */
  readonly second: readonly KubeObject[]
  /** The others. */
  readonly byKey: LayeredMap<KubeObject>
}

function indexAfter(before: KindIndex | undefined, objects: readonly KubeObject[]): KindIndex {
  if (before === undefined) return indexOf([...objects].sort(compareObjects), objects)
  const edits = changesBetween(before.asked, objects)
  if (edits?.length === 0) return before
  const carried = edits && withEdits(before, edits)
  if (carried !== undefined) return { ...carried, asked: objects }
  const now = new Set(objects)
  const kept = before.objects.filter((object) => now.has(object))
  if (kept.length === objects.length && kept.length === before.objects.length) return { ...before, asked: objects }
  const known = new Set(kept)
  // Nearly sorted: the last order, followed by new objects.
  return indexOf([...kept, ...objects.filter((object) => !known.has(object))].sort(compareObjects), objects)
}

/** undefined: some objects have the same name. */
function withEdits(before: KindIndex, edits: readonly ListChange<KubeObject>[]): KindIndex | undefined {
  if (before.second.length > 0) return undefined
  const heirs = replacements(before.objects, edits, {
    isHeir: (heir, object) => keyOf(heir) === keyOf(object) && compareByAge(heir, object) === 0,
    placeOf: (object) => placeAmong(before.objects, object),
  })
  if (heirs !== undefined) {
    const byKey = before.byKey.with(heirs.flatMap(({ added }) => added.map((object) => [keyOf(object), object])))
    const objects = changed(before.objects, heirs)
    return { ...before, byKey, objects, index: lookupOf(objects, byKey) }
  }
  const objects = [...before.objects]
  const byName = new Map<string, KubeObject | undefined>()
  for (const object of edits.flatMap(({ removed }) => removed)) {
    const place = placeAmong(objects, object)
    if (objects[place] !== object) return undefined
    objects.splice(place, 1)
    byName.set(keyOf(object), undefined)
  }
  for (const object of edits.flatMap(({ added }) => added)) {
    const key = keyOf(object)
    const known = byName.has(key) ? byName.get(key) : before.byKey.get(key)
    if (known !== undefined) return undefined
    objects.splice(placeAmong(objects, object), 0, object)
    byName.set(key, object)
  }
  if (isIdentical(objects, before.objects)) return before
  const byKey = before.byKey.with(byName)
  return { ...before, byKey, objects, index: lookupOf(objects, byKey) }
}

/** Where it is, or belongs. */
function placeAmong(objects: readonly KubeObject[], wanted: KubeObject): number {
  return lowerBound(objects.length, (place) => {
    const object = objects[place]
    return object !== undefined && compareByAge(object, wanted) < 0
  })
}

function lookupOf(all: readonly KubeObject[], byKey: LayeredMap<KubeObject>): ObjectIndex<KubeObject> {
  return { all, get: (namespace, name) => byKey.get(nameKey(namespace, name)) }
}

function indexOf(objects: readonly KubeObject[], asked: readonly KubeObject[]): KindIndex {
  const byKey = new Map<string, KubeObject>()
  const second: KubeObject[] = []
  for (const object of objects) {
    const key = keyOf(object)
    if (byKey.has(key)) second.push(object)
    else byKey.set(key, object)
  }
  const layered = LayeredMap.of(byKey)
  return { index: lookupOf([...byKey.values()], layered), asked, objects, second, byKey: layered }
}

function compareObjects(a: KubeObject, b: KubeObject): number {
  return compareByAge(a, b) || compareContent(a, b)
}

/** Reached only by two objects of one kind, age and name: invalid input, whose order must not matter. */
function compareContent(a: KubeObject, b: KubeObject): number {
  return keyOf(a) === keyOf(b) ? compareText(JSON.stringify(a), JSON.stringify(b)) : 0
}

function describeRef(ref: ObjectRef): string {
  return `${ref.apiVersion}/${ref.kind}/${nameKey(ref.namespace, ref.name)}`
}
