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
  /** The last one in use: clients repeat their keys, and moving an entry costs more than finding it. */
  #newest: Entry<V> | undefined = undefined

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry === this.#newest) return entry.value
    this.#newest = entry
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
    this.#newest = { key, value, weight }
    this.#entries.set(key, this.#newest)
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
    if (this.#newest === entry) this.#newest = undefined
    this.#weight -= entry.weight
  }
}
