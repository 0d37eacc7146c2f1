// A map that evicts the least recently used entry, limited in entries and in weight.

interface Entry<V> {
  /** As it was set: the text of a later look-up may be a part of a larger text, which it would keep. */
  readonly key: string
  readonly value: V
  readonly weight: number
}

export interface CacheBounds {
  readonly entriesMax: number
  /** Limit of the sum of the weights passed to `set`. */
  readonly weightMax: number
}

export class BoundedCache<V> {
  /** In the order of use, oldest first. */
  readonly #entries = new Map<string, Entry<V>>()
  readonly #bounds: CacheBounds
  #weight = 0

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(entry.key, entry)
    return entry.value
  }

  /** In the order of use, oldest first. Not to be changed meanwhile. */
  *entries(): Generator<readonly [string, V], void, undefined> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key)
    if (weight > this.#bounds.weightMax) return
    this.#entries.set(key, { key, value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.entriesMax && this.#weight <= this.#bounds.weightMax) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }
}
