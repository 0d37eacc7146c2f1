// Remembers results by object, each with everything that was read for it: a result holds as long as a second look finds
// the same. No second look is taken where nothing has changed. Entries live as long as their objects; nothing here
// depends on time.
import { isIdentical } from '#api/identical.ts'

interface Read {
  readonly look: () => unknown
  readonly found: unknown
}

interface Entry<T> {
  readonly inputs: readonly unknown[]
  readonly reads: readonly Read[]
  /** Where they were read: a set of bits. */
  readonly sources: number
  /** By the count of changes. */
  checkedAt: number
  readonly result: T
}

/** Something that many lookups are answered from, such as all objects of a kind. */
export type Source = number

/** Bits of a positive number. */
const SOURCES_MAX = 31

interface Reading {
  /** undefined: a look at the sources says enough. */
  readonly reads: Read[] | undefined
  sources: number
}

interface Stage<T> {
  readonly inputs: readonly unknown[]
  readonly sources: number
  readonly checkedAt: number
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
  #reading: Reading | undefined
  #changes = 0
  /** By source: the count of changes then. */
  readonly #changedAt: number[] = []

  source(): Source {
    if (this.#changedAt.length === SOURCES_MAX) throw new RangeError(`more than ${SOURCES_MAX} sources`)
    return this.#changedAt.push(0) - 1
  }

  /** From now on lookups there may find something else. Not to be called while something is computed. */
  changed(source: Source): void {
    this.#changedAt[source] = ++this.#changes
  }

  /** Looks something up that may be different after a change of the source. */
  read<T>(source: Source, look: () => T): T {
    const found = look()
    if (this.#reading !== undefined) {
      this.#reading.reads?.push({ look, found })
      this.#reading.sources |= 1 << source
    }
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
      if (this.#reading !== undefined) {
        this.#reading.reads?.push(...entry.reads)
        this.#reading.sources |= entry.sources
      }
      return entry.result
    }
  }

  /** For the work on all objects together: done again after any change of a source that it has read. */
  stage<T>(): (inputs: readonly unknown[], compute: () => T) => T {
    let last: Stage<T> | undefined
    return (inputs, compute) => {
      if (last === undefined || !isIdentical(last.inputs, inputs) || !this.#isUntouched(last)) {
        const reading: Reading = { reads: undefined, sources: 0 }
        const result = this.#whileReading(reading, compute)
        last = { inputs: [...inputs], sources: reading.sources, checkedAt: this.#changes, result }
      }
      return last.result
    }
  }

  #holds(entry: Entry<unknown>, now: readonly unknown[]): boolean {
    const { inputs, reads } = entry
    if (!isIdentical(inputs, now)) return false
    if (this.#isUntouched(entry)) return true
    // Thousands of times in each translation: no iterators here.
    for (let index = 0; index < reads.length; index++) {
      const read = reads[index]
      if (read !== undefined && read.look() !== read.found) return false
    }
    entry.checkedAt = this.#changes
    return true
  }

  #isUntouched({ sources, checkedAt }: Pick<Entry<unknown>, 'sources' | 'checkedAt'>): boolean {
    if (checkedAt === this.#changes) return true
    // From the lowest bit to the highest.
    for (let rest = sources; rest !== 0; rest &= rest - 1) {
      const source: Source = 31 - Math.clz32(rest & -rest)
      if ((this.#changedAt[source] ?? 0) > checkedAt) return false
    }
    return true
  }

  #compute<T>(inputs: readonly unknown[], compute: () => T): Entry<T> {
    const reads: Read[] = []
    const reading: Reading = { reads, sources: 0 }
    const result = this.#whileReading(reading, compute)
    return { inputs: [...inputs], reads, sources: reading.sources, checkedAt: this.#changes, result }
  }

  #whileReading<T>(reading: Reading, compute: () => T): T {
    const outer = this.#reading
    this.#reading = reading
    try {
      return compute()
    } finally {
      this.#reading = outer
    }
  }
}
