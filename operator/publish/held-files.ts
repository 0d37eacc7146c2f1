// The files in the objects of a delivery, from any source. Pure.
import type { Files } from '#api/delivery/document.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'

export interface ObjectName {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
}

export interface HeldFiles {
  /** Empty if the object does not exist or is unknown. */
  files(object: ObjectName): Files
  /** Existing objects, by `kind/name`. */
  all(): ReadonlyMap<string, Files>
}

/** Whether the object holds these files with this content. File names are hashes, except for the indexes. */
export function holds(held: HeldFiles, object: DeliveredObject): boolean {
  const files = held.files(object)
  return [...object.files].every(([name, bytes]) => isEqual(files.get(name), bytes))
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a === b || (a !== undefined && Buffer.compare(a, b) === 0)
}

export function only(files: Files | undefined, names: ReadonlySet<string>): Files {
  return new Map([...(files ?? [])].filter(([name]) => names.has(name)))
}
