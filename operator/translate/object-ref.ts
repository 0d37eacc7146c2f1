// Names of objects: what problems and statuses point at.
import type { KubeObject } from './kube.ts'

export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export function refOf(object: KubeObject): ObjectRef {
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
  }
}

/**
 * `namespace/name`. Neither part can hold a slash.
 *
 * Such keys stay in maps as long as their objects. `join` makes a flat string; V8 keeps the tree of a template's parts
 * (32 bytes) beside the text, also after the text was read.
 */
export function nameKey(namespace: string, name: string): string {
  return [namespace, name].join('/')
}

/** Of `namespace/name`. */
export function partsOfKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}

export function keyOf(object: KubeObject): string {
  return nameKey(namespaceOf(object), object.metadata.name)
}

export function namespaceOf(object: KubeObject): string {
  return object.metadata.namespace ?? ''
}

/** `HTTPRoute shop/cart`, as messages and queues name an object. */
export function describe(ref: { readonly kind: string; readonly namespace: string; readonly name: string }): string {
  return `${ref.kind} ${nameKey(ref.namespace, ref.name)}`
}

/** The group part of an apiVersion; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? '' : apiVersion.slice(0, slash)
}
