// The objects of a delivery in memory, for tests and benchmarks: applies the writes of a plan, and returns the objects.
import type { Files } from '#api/delivery/document.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import { idOf } from './delivery-objects.ts'
import type { HeldFiles, ObjectName } from './held-files.ts'

const NONE: Files = new Map()

export class MemoryObjects implements HeldFiles {
  readonly #objects: Map<string, Files>

  constructor(objects: Iterable<readonly [string, Files]> = []) {
    this.#objects = new Map(objects)
  }

  files(object: ObjectName): Files {
    return this.#objects.get(idOf(object)) ?? NONE
  }

  all(): ReadonlyMap<string, Files> {
    return this.#objects
  }

  set(id: string, files: Files): void {
    this.#objects.set(id, files)
  }

  write(object: DeliveredObject): void {
    this.#objects.set(idOf(object), object.files)
  }

  /** As a proxy reads it. */
  readonly file = (name: string): Uint8Array | undefined => {
    for (const files of this.#objects.values()) {
      const content = files.get(name)
      if (content !== undefined) return content
    }
    return undefined
  }
}
