// What the objects of a delivery hold, however it is known. Pure.
import type { Files } from '#api/delivery/document.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'

export interface ObjectName {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
}

export interface HeldFiles {
  /** Empty when there is no such object, or when it is not known. */
  files(object: ObjectName): Files
  /** Those that are there, by `kind/name`. */
  all(): ReadonlyMap<string, Files>
}

/** Whether the object holds these files with this content. File names are hashes, but for the indexes. */
export function holds(held: HeldFiles, object: DeliveredObject): boolean {
  const files = held.files(object)
  return [...object.files].every(([name, bytes]) => isEqual(files.get(name), bytes))
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a === b || (a !== undefined && Buffer.compare(a, b) === 0)
}
