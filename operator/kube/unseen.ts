// What watches do not tell about objects that were written: one that was lost at the wrong moment tells neither that an
// object came nor that it went, and one that is quick tells of a change before the answer to the write is there.

export interface MissingObject {
  /** Of the Gateway that it belongs to. */
  readonly key: string
  /** `kind/name`. */
  readonly id: string
  /** Called before the Gateway is named: it is no longer believed to be there. */
  readonly forget: () => void
}

/** Asked now and then. Names Gateways that miss an object for the second time: the cache may be a moment behind. */
export function missingTwice(look: () => Iterable<MissingObject>): () => string[] {
  let before: ReadonlySet<string> = new Set()
  return () => {
    const missing = new Set<string>()
    const keys = new Set<string>()
    for (const { key, id, forget } of look()) {
      const name = `${key} ${id}`
      if (before.has(name)) {
        forget()
        keys.add(key)
      } else missing.add(name)
    }
    before = missing
    return [...keys]
  }
}

/** The version that the watch told while an object was written is not the one that was written. */
export function isLater(seen: string | undefined, written: string | undefined): boolean {
  return seen !== undefined && !(Number(seen) <= Number(written))
}
