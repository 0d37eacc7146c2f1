// Objects that the deployer makes: plain JSON with what every Kubernetes object has. Types and their checks only.
import type { ObjectMeta } from '#api/kube/object-meta.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject

export interface JsonObject {
  [field: string]: Json
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** Names an object in problems. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export function refOf({ apiVersion, kind, metadata }: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): ObjectRef {
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What JSON would make of it, shared with nothing: objects of the cluster never end up in what is rendered. */
export function jsonCopy(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonCopy)
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined)
    return Object.fromEntries(fields.map(([name, item]) => [name, jsonCopy(item)]))
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
