// A map that forgets what was not used for longest, bounded in entries and in weight.

interface Entry<V> {
  readonly value: V
  readonly weight: number
}

export interface CacheBounds {
  readonly entriesMax: number
  /** Sum of the weights that `set` is given. */
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
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key)
    if (weight > this.#bounds.weightMax) return
    this.#entries.set(key, { value, weight })
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
