// The objects that reflectors have seen, by kind and name. One list is one change; equal objects are no change.
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../translate/kube.ts'
import { nameKey } from '../translate/object-ref.ts'
import { trim } from './trim.ts'

export interface ObjectChange {
  readonly kind: string
  readonly key: string
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

export type ChangeListener = (change: ObjectChange) => void

export class ObjectCache {
  readonly #kinds = new Map<string, Map<string, KubeObject>>()
  readonly #listeners = new Set<ChangeListener>()

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

  kinds(): string[] {
    return [...this.#kinds.keys()].sort()
  }

  count(kind: string): number {
    return this.#kinds.get(kind)?.size ?? 0
  }

  /** Older than what is known: a watch that lags behind an answer we have had. */
  put(kind: string, object: KubeObject): void {
    const key = keyOf(object)
    if (isOlder(object, this.#of(kind).get(key))) return
    this.#put(kind, key, object)
  }

  #put(kind: string, key: string, object: KubeObject): void {
    const kept = trim(object)
    if (kept === undefined) this.#set(kind, key, undefined)
    else this.#set(kind, key, kept)
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

  /** What a new list does not have is gone. */
  replace(kind: string, objects: readonly KubeObject[]): void {
    const keys = new Set(objects.map(keyOf))
    for (const key of this.#of(kind).keys()) if (!keys.has(key)) this.#set(kind, key, undefined)
    for (const object of objects) this.#put(kind, keyOf(object), object)
  }

  #of(kind: string): Map<string, KubeObject> {
    const known = this.#kinds.get(kind)
    if (known !== undefined) return known
    const made = new Map<string, KubeObject>()
    this.#kinds.set(kind, made)
    return made
  }

  #set(kind: string, key: string, after: KubeObject | undefined): void {
    const objects = this.#of(kind)
    const before = objects.get(key)
    if (after === undefined) objects.delete(key)
    else objects.set(key, after)
    if (isSameContent(before, after)) return
    for (const listener of this.#listeners) listener({ kind, key, before, after })
  }
}

function keyOf({ metadata }: KubeObject): string {
  return nameKey(metadata.namespace ?? '', metadata.name)
}

/** Versions are numbers of the store; where they are not, the later event counts. */
function isOlder(object: KubeObject, known: KubeObject | undefined): boolean {
  return Number(object.metadata.resourceVersion) < Number(known?.metadata.resourceVersion)
}

function isSameContent(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.metadata.resourceVersion === b.metadata.resourceVersion) return true
  const bare = (object: KubeObject): unknown => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: undefined },
  })
  return isDeepStrictEqual(bare(a), bare(b))
}
