// The one order of user objects: older first, then namespace, then name. Every list and every conflict uses it.
import type { KubeObject } from './kube.ts'

/** Objects without a creation time (manifests in a folder) come first and are ordered by namespace and name. */
export function compareByAge(a: KubeObject, b: KubeObject): number {
  return (
    compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareText(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compareText(a.metadata.name, b.metadata.name)
  )
}

/** By code unit: the same on every machine, unlike a locale's order. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

export function sortedBy<T>(items: Iterable<T>, keyOf: (item: T) => string): T[] {
  return [...items].sort((a, b) => compareText(keyOf(a), keyOf(b)))
}

/** Seconds since the epoch; undefined when the object carries no (readable) creation time. */
export function createdAt(object: KubeObject): number | undefined {
  const text = object.metadata.creationTimestamp
  if (text === undefined) return undefined
  const milliseconds = Date.parse(text)
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}
