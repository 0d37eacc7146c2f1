// Changes of the configuration in force, for what outlives the plan that started it, such as open event streams.
import type { Backend } from '#api/ir/types.gen.ts'

type Backends = (key: string) => Backend | undefined

/** Of one worker. */
export class ConfigChanges {
  #inForce: Backends | undefined = undefined
  readonly #listeners = new Set<(backends: Backends) => void>()

  /** Calls `listener` at once and after each change, until the returned function is called. */
  watch(listener: (backends: Backends) => void): () => void {
    if (this.#inForce !== undefined) listener(this.#inForce)
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** `backends`: of the configuration that is in force from now on. */
  announce(backends: Backends): void {
    this.#inForce = backends
    for (const listener of this.#listeners) listener(backends)
  }
}
