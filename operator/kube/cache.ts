// The objects that reflectors have seen, by kind and name. One list is one change; equal objects are not a change.
import { isDeepStrictEqual } from 'node:util'
import { Contents, isBare } from './contents.ts'
import { StableViews } from './stable-view.ts'
import type { KubeObject } from '../translate/kube.ts'
import { nameKey } from '../translate/object-ref.ts'
import { Sharing } from './share.ts'
import { statusOf } from './status-of.ts'
import { trim } from './trim.ts'

export interface ObjectChange {
  readonly kind: string
  readonly key: string
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
  /** Only the status differs: for most kinds this is our own status write. */
  readonly isStatusOnly: boolean
}

export type ChangeListener = (change: ObjectChange) => void

export class ObjectCache {
  readonly #kinds = new Map<string, Map<string, KubeObject>>()
  readonly #views = new Map<string, StableViews>()
  readonly #listeners = new Set<ChangeListener>()
  readonly #contents: Contents
  readonly #sharing = new Sharing()

  /** `contents`: which content is kept; all of it by default. */
  constructor(contents = new Contents(() => true)) {
    this.#contents = contents
  }

  /** Called at once for every change; must not throw. */
  onChange(listener: ChangeListener): void {
    this.#listeners.add(listener)
  }

  get(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#kinds.get(kind)?.get(nameKey(namespace, name))
  }

  all(kind: string): Iterable<KubeObject> {
    return this.#kinds.get(kind)?.values() ?? []
  }

  /** For translation, which compares by identity: after a change of the status only, the object is the same one. */
  views(kind: string): readonly KubeObject[] {
    return this.#viewsOf(kind).all()
  }

  /** As `Contents.reading`. */
  reading<T>(work: () => T): ReturnType<typeof Contents.prototype.reading<T>> {
    return this.#contents.reading(work)
  }

  kinds(): string[] {
    return [...this.#kinds.keys()].sort()
  }

  count(kind: string): number {
    return this.#kinds.get(kind)?.size ?? 0
  }

  /** Older than the cached object: the watch lags behind a response. */
  put(kind: string, object: KubeObject): void {
    const key = keyOf(object)
    if (isOlder(object, this.#of(kind).get(key))) return
    this.#set(kind, key, this.fit(kind, object))
  }

  /** The object as it is kept; undefined: not at all. */
  fit(kind: string, object: KubeObject): KubeObject | undefined {
    const trimmed = trim(object)
    if (trimmed === undefined) return undefined
    const shared = this.#sharing.of(trimmed)
    // Other names than that of the kind are of objects that the operator itself reads.
    return kind === object.kind ? this.#contents.fit(shared) : shared
  }

  /**
   * The response to a write of a known object. The watch may have reported its deletion meanwhile: then it must not
   * come back, because nothing would remove it again.
   */
  update(kind: string, object: KubeObject): void {
    const known = this.#of(kind).get(keyOf(object))
    if (known !== undefined && known.metadata.uid === object.metadata.uid) this.put(kind, object)
  }

  remove(kind: string, object: KubeObject): void {
    this.#set(kind, keyOf(object), undefined)
  }

  /** Of namespaces that are no longer selected. */
  removeWhere(kind: string, isGone: (namespace: string) => boolean): void {
    for (const [key, { metadata }] of this.#of(kind)) {
      if (isGone(metadata.namespace ?? '')) this.#set(kind, key, undefined)
    }
  }

  /** Removes objects that a new list, of results of `fit`, does not contain. `namespace`: the only one in the list. */
  replace(kind: string, objects: readonly KubeObject[], namespace?: string): void {
    const keys = new Set(objects.map(keyOf))
    for (const [key, { metadata }] of this.#of(kind)) {
      if (namespace !== undefined && metadata.namespace !== namespace) continue
      if (!keys.has(key)) this.#set(kind, key, undefined)
    }
    for (const object of objects) this.#set(kind, keyOf(object), object)
  }

  #of(kind: string): Map<string, KubeObject> {
    const known = this.#kinds.get(kind)
    if (known !== undefined) return known
    const made = new Map<string, KubeObject>()
    this.#kinds.set(kind, made)
    return made
  }

  #set(kind: string, key: string, written: KubeObject | undefined): void {
    const objects = this.#of(kind)
    const before = objects.get(key)
    if (isKnown(before, written)) return
    const isStatusOnly = isSameButStatus(before, written)
    // Views keep the parts of the object before.
    const after = isStatusOnly ? withParts(before, written) : written
    if (after === undefined) objects.delete(key)
    else objects.set(key, after)
    if (after === undefined || isBare(after)) this.#contents.forget(kind, key)
    if (isStatusOnly && isSameStatus(before, after)) return
    this.#viewsOf(kind).set(key, after, isStatusOnly)
    for (const listener of this.#listeners) listener({ kind, key, before, after, isStatusOnly })
  }

  #viewsOf(kind: string): StableViews {
    const known = this.#views.get(kind)
    if (known !== undefined) return known
    const made = new StableViews()
    this.#views.set(kind, made)
    return made
  }
}

function keyOf({ metadata }: KubeObject): string {
  return nameKey(metadata.namespace ?? '', metadata.name)
}

/** Versions are numbers of the store; if they are not numbers, the later event counts. */
function isOlder(object: KubeObject, known: KubeObject | undefined): boolean {
  return Number(object.metadata.resourceVersion) < Number(known?.metadata.resourceVersion)
}

/** A list repeats known objects, and may have begun before their content was fetched. */
function isKnown(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return before === after || (isSameVersion(before, after) && (isBare(after) || !isBare(before)))
}

function isSameVersion(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  const version = a?.metadata.resourceVersion
  return version !== undefined && version === b?.metadata.resourceVersion && a?.metadata.uid === b.metadata.uid
}

/** False for a created or deleted object. */
function isSameButStatus(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const bare = (object: KubeObject): unknown => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: undefined },
    status: undefined,
  })
  return isDeepStrictEqual(bare(a), bare(b))
}

/** The object `after`, with the parts of `before` where both are equal. */
function withParts(before: KubeObject | undefined, after: KubeObject | undefined): KubeObject | undefined {
  const { resourceVersion } = after?.metadata ?? {}
  if (before === undefined || after === undefined || isBare(before) || isBare(after)) return after
  if (resourceVersion === undefined || !('status' in after)) return after
  const now = { ...before, metadata: { ...before.metadata, resourceVersion }, status: after.status }
  return now
}

function isSameStatus(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return isDeepStrictEqual(statusOf(a), statusOf(b))
}
