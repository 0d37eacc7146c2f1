// One value for each key, made when it is first needed.

export class Keyed<V> {
  readonly #make: () => V
  readonly #values = new Map<string, V>()

  constructor(make: () => V) {
    this.#make = make
  }

  at(key: string): V {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const made = this.#make()
    this.#values.set(key, made)
    return made
  }

  /** Drops the values of all other keys. `wanted`: each key of it has been asked for. */
  keepOnly(wanted: ReadonlyMap<string, unknown>): void {
    if (this.#values.size === wanted.size) return
    for (const key of this.#values.keys()) if (!wanted.has(key)) this.#values.delete(key)
  }
}
