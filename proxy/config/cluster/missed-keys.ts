// Counts the tokens whose key no set has, for the operator. Any client can create such tokens, so few are counted.
import { keySetId, UNKNOWN_KEYS_MAX, type UnknownKeys } from '#api/delivery/unknown-keys.ts'

/** For each set; workers and policies report the same set separately. */
const COUNT_MS_MIN = 10_000

interface Missed {
  readonly count: number
  readonly atMs: number
}

export class MissedKeys {
  readonly #now: () => number
  /** By id of the set; the latest one last. */
  readonly #missed = new Map<string, Missed>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** False if the set was counted a moment ago. */
  add(source: string): boolean {
    const id = keySetId(source)
    const known = this.#missed.get(id)
    const atMs = this.#now()
    if (known !== undefined && atMs - known.atMs < COUNT_MS_MIN) return false
    this.#missed.delete(id)
    this.#missed.set(id, { count: (known?.count ?? 0) + 1, atMs })
    const [oldest] = this.#missed.keys()
    if (this.#missed.size > UNKNOWN_KEYS_MAX && oldest !== undefined) this.#missed.delete(oldest)
    return true
  }

  /** Empty while no key was missing. */
  word(): { readonly unknownKeys?: UnknownKeys } {
    if (this.#missed.size === 0) return {}
    return { unknownKeys: Object.fromEntries([...this.#missed].map(([id, { count }]) => [id, count])) }
  }
}
