// The objects of a fake cluster and their history: versions, generations, conflicts, server-side apply, owners. It
// does not depend on HTTP.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '#api/json.ts'

export interface FakeObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    generation?: number
    resourceVersion?: string
    creationTimestamp?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    ownerReferences?: { uid: string }[]
  }
  [field: string]: unknown
}

export interface Change {
  readonly version: number
  readonly resource: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: FakeObject
  /** The previous object: a selector may have matched it and not match now. */
  readonly before: FakeObject | undefined
}

export class Refused extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

const HISTORY_MAX = 20_000

export class Store {
  /** By resource (`gateways.gateway.networking.k8s.io`), then `namespace/name`. */
  readonly #objects = new Map<string, Map<string, FakeObject>>()
  /** The last applied object of each field manager, by uid and manager. */
  readonly #applied = new Map<string, Record<string, unknown>>()
  readonly #listeners = new Set<(change: Change) => void>()
  #history: Change[] = []
  #version = 1000
  #oldest = 0
  /** Writes that changed something, by resource. */
  readonly writes = new Map<string, number>()

  get version(): number {
    return this.#version
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Deletes the history: older versions can no longer be watched. */
  compact(): void {
    this.#oldest = this.#version
    this.#history = []
  }

  /** undefined: too old. */
  since(version: number): readonly Change[] | undefined {
    if (version < this.#oldest) return undefined
    return this.#history.filter((change) => change.version > version)
  }

  list(resource: string): FakeObject[] {
    const objects = [...(this.#objects.get(resource) ?? new Map<string, FakeObject>()).entries()]
    return objects.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  get(resource: string, key: string): FakeObject | undefined {
    return this.#objects.get(resource)?.get(key)
  }

  create(resource: string, object: FakeObject): FakeObject {
    const key = keyOf(object)
    if (this.get(resource, key) !== undefined) throw new Refused(409, 'AlreadyExists', `${resource} ${key} exists`)
    const made: FakeObject = structuredClone(object)
    made.metadata.uid = randomUUID()
    made.metadata.generation = 1
    made.metadata.creationTimestamp ??= '2026-01-01T00:00:00Z'
    return this.#commit(resource, 'ADDED', made, undefined)
  }

  /** Replaces everything but the status, or only the status. */
  update(resource: string, object: FakeObject, isStatus: boolean): FakeObject {
    const key = keyOf(object)
    const before = this.get(resource, key)
    if (before === undefined) throw new Refused(404, 'NotFound', `${resource} ${key} not found`)
    const given = object.metadata.resourceVersion
    if (given !== undefined && given !== before.metadata.resourceVersion) {
      throw new Refused(409, 'Conflict', `${resource} ${key} has been modified`)
    }
    const after = isStatus
      ? withStatus(before, object)
      : withStatus({ ...object, metadata: kept(before, object) }, before)
    if (isSame(before, after)) return before
    const next = structuredClone(after)
    const { generation = 1 } = before.metadata
    if (!isDeepStrictEqual(specOf(before), specOf(next))) next.metadata.generation = generation + 1
    return this.#commit(resource, 'MODIFIED', next, before)
  }

  /** Server-side apply, forced. Lists are replaced as a whole. */
  apply(resource: string, object: FakeObject, manager: string): FakeObject {
    const before = this.get(resource, keyOf(object))
    const { status: _status, ...wanted } = object
    if (before === undefined) {
      const made = this.create(resource, wanted)
      this.#applied.set(`${made.metadata.uid} ${manager}`, wanted)
      return made
    }
    const id = `${before.metadata.uid} ${manager}`
    const after = merge(remove(before, this.#applied.get(id) ?? {}, wanted), wanted) as FakeObject
    delete after.metadata.resourceVersion
    this.#applied.set(id, wanted)
    return this.update(resource, after, false)
  }

  delete(resource: string, key: string): FakeObject {
    const before = this.get(resource, key)
    if (before === undefined) throw new Refused(404, 'NotFound', `${resource} ${key} not found`)
    this.#commit(resource, 'DELETED', structuredClone(before), before)
    this.#collect(before.metadata.uid ?? '')
    return before
  }

  /** Objects created after their owner was deleted: the garbage collector of a cluster finds them later. */
  collectGarbage(): void {
    const all = [...this.#objects].flatMap(([resource, objects]) =>
      [...objects].map(([key, { metadata }]) => ({ resource, key, metadata })),
    )
    const uids = new Set(all.map(({ metadata }) => metadata.uid))
    for (const { resource, key, metadata } of all) {
      const { ownerReferences: owners = [] } = metadata
      const isOrphan = owners.length > 0 && !owners.some(({ uid }) => uids.has(uid))
      if (isOrphan && this.get(resource, key) !== undefined) this.delete(resource, key)
    }
  }

  #collect(uid: string): void {
    for (const [resource, objects] of this.#objects) {
      for (const [key, { metadata }] of objects) {
        if (metadata.ownerReferences?.some((owner) => owner.uid === uid) === true) this.delete(resource, key)
      }
    }
  }

  #commit(resource: string, type: Change['type'], object: FakeObject, before: FakeObject | undefined): FakeObject {
    const version = ++this.#version
    object.metadata.resourceVersion = String(version)
    const objects = this.#objects.get(resource) ?? new Map<string, FakeObject>()
    this.#objects.set(resource, objects)
    if (type === 'DELETED') objects.delete(keyOf(object))
    else objects.set(keyOf(object), object)
    const change: Change = { version, resource, type, object, before }
    this.#history.push(change)
    if (this.#history.length > HISTORY_MAX) this.#oldest = this.#history.shift()?.version ?? this.#oldest
    this.writes.set(resource, (this.writes.get(resource) ?? 0) + 1)
    for (const listener of this.#listeners) listener(change)
    return object
  }
}

export function keyOf({ metadata }: FakeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** The server's own fields of metadata do not change. */
function kept(before: FakeObject, { metadata }: FakeObject): FakeObject['metadata'] {
  const { uid = '', generation = 1, creationTimestamp = '' } = before.metadata
  return { ...metadata, uid, generation, creationTimestamp }
}

function withStatus(object: FakeObject, owner: FakeObject): FakeObject {
  const { status: _status, ...rest } = object
  return owner['status'] === undefined ? rest : { ...rest, status: owner['status'] }
}

function specOf({ metadata: _metadata, status: _status, ...rest }: FakeObject): unknown {
  return rest
}

function isSame(a: FakeObject, b: FakeObject): boolean {
  const bare = ({ metadata, ...rest }: FakeObject): unknown => ({
    ...rest,
    metadata: { ...metadata, resourceVersion: undefined },
  })
  return JSON.stringify(sorted(bare(a))) === JSON.stringify(sorted(bare(b)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  )
}

/** JSON merge patch (RFC 7386), in which `null` deletes a field. */
export function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merge(result[name], value)
  }
  return result
}

/** Removes fields that were applied earlier and are not applied now. */
function remove(live: unknown, before: unknown, wanted: unknown): unknown {
  if (!isRecord(live) || !isRecord(before)) return live
  const result: Record<string, unknown> = {}
  const next = isRecord(wanted) ? wanted : {}
  for (const [name, value] of Object.entries(live)) {
    if (Object.hasOwn(before, name) && !Object.hasOwn(next, name)) continue
    result[name] = remove(value, before[name], next[name])
  }
  return result
}
