// Remembers results by object, each with everything that was read for it: a result holds as long as a second look finds
// the same. Entries live as long as their objects; nothing here depends on time.
import { isIdentical } from './same.ts'

interface Read {
  readonly look: () => unknown
  readonly found: unknown
}

interface Entry<T> {
  readonly inputs: readonly unknown[]
  readonly reads: readonly Read[]
  readonly result: T
}

/** `inputs`: values that the result depends on besides `key`, compared one by one. */
export type Remember<K extends object, T> = (key: K, inputs: readonly unknown[], compute: () => T) => T

/** Made again only when what it is made of is another object. */
export function derived<S extends object, T>(make: (source: S) => T): (source: S) => T {
  let last: { readonly source: S; readonly made: T } | undefined
  return (source) => {
    if (last === undefined || last.source !== source) last = { source, made: make(source) }
    return last.made
  }
}

export class Memory {
  /** Of the result that is being computed. */
  #reads: Read[] | undefined

  /** Looks something up that may be different next time. */
  read<T>(look: () => T): T {
    const found = look()
    this.#reads?.push({ look, found })
    return found
  }

  table<K extends object, T>(): Remember<K, T> {
    const entries = new WeakMap<K, Entry<T>>()
    return (key, inputs, compute) => {
      let entry = entries.get(key)
      if (entry === undefined || !this.#holds(entry, inputs)) {
        entry = this.#compute(inputs, compute)
        entries.set(key, entry)
      }
      // What led to a part led to the whole.
      this.#reads?.push(...entry.reads)
      return entry.result
    }
  }

  #holds({ inputs, reads }: Entry<unknown>, now: readonly unknown[]): boolean {
    if (!isIdentical(inputs, now)) return false
    // Thousands of times in each translation: no iterators here.
    for (let index = 0; index < reads.length; index++) {
      const read = reads[index]
      if (read !== undefined && read.look() !== read.found) return false
    }
    return true
  }

  #compute<T>(inputs: readonly unknown[], compute: () => T): Entry<T> {
    const outer = this.#reads
    const reads: Read[] = []
    this.#reads = reads
    try {
      const result = compute()
      return { inputs: [...inputs], reads, result }
    } finally {
      this.#reads = outer
    }
  }
}
