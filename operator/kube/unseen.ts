// Changes of written objects that watches do not report. A watch that is lost at the wrong moment reports neither that
// an object was created nor that it was deleted; a quick one reports a change before the response to the write arrives.
import { Effect } from 'effect'

export interface MissingObject {
  /** Of the Gateway that it belongs to. */
  readonly key: string
  /** `kind/name`. */
  readonly id: string
  /** Called before the Gateway is named: the object counts as missing. */
  readonly forget: () => void
}

/** Called periodically. Returns Gateways that miss an object for the second time: the cache may be a moment behind. */
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

/** The version that the watch reported during the write is later than the written one. */
export function isLater(seen: string | undefined, written: string | undefined): boolean {
  return seen !== undefined && !(Number(seen) <= Number(written))
}

interface Written {
  readonly metadata: { readonly resourceVersion?: string | undefined }
}

/** Writes without a response so far, with the versions that the watch reported meanwhile; by `kind/name`. */
export class WritesUnderWay {
  readonly #seen = new Map<string, string | undefined>()

  /** Called by the watch. */
  reported(id: string, version: string | undefined): void {
    if (this.#seen.has(id)) this.#seen.set(id, version)
  }

  /** `isTouched`: the object was changed or deleted before the response arrived; no watch reports that again. */
  follow<A extends Written | undefined, E, R>(
    id: string,
    write: Effect.Effect<A, E, R>,
  ): Effect.Effect<{ readonly written: A; readonly isTouched: boolean }, E, R> {
    return Effect.suspend(() => {
      this.#seen.set(id, undefined)
      return write.pipe(
        Effect.map((written) => ({
          written,
          isTouched: isLater(this.#seen.get(id), written?.metadata.resourceVersion),
        })),
        Effect.ensuring(Effect.sync(() => this.#seen.delete(id))),
      )
    })
  }
}
