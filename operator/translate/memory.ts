// Keeps results by object, each with everything that was read for it: a result is valid as long as a second read
// returns the same. Unchanged sources are not read again. Entries live as long as their objects. Independent of time.
import { isIdentical } from '#api/incremental/identical.ts'
import { type ListChange, makeChanges } from '#api/incremental/list-change.ts'
import { changed, changesBetween } from './changes.ts'
import { Readers, type Source } from './readers.ts'

interface Read {
  readonly source: Source
  /** The only key of the source that was read. */
  readonly key: string | undefined
  readonly look: (key: string) => unknown
  readonly found: unknown
}

interface Reading {
  /** undefined: checking the sources is enough. */
  readonly reads: Read[] | undefined
  /** Results of nested computations: their reads are reads of the whole. */
  readonly parts: Entry<unknown>[]
  sources: number
}

interface Entry<T> {
  readonly inputs: readonly unknown[]
  readonly reads: readonly Read[]
  readonly parts: readonly Entry<unknown>[]
  /** The sources of all reads: a set of bits. */
  readonly sources: number
  /** By the count of changes. */
  checkedAt: number
  readonly result: T
}

/** Bits of a positive number. */
const SOURCES_MAX = 31

interface SourceState {
  /** By the count of changes. */
  changedAt: number
  /** As above: the last change with unknown keys. */
  wholeAt: number
  /** When each key changed, since then. */
  readonly keys: Map<string, number>
  /** Results that read the same as the one before share it: there are thousands of them. */
  lastRead: Read | undefined
}

/** How many of its last reads a result compares with the next one. */
const COMPARED_READS = 8

/** Of a source; with more of them all keys count as changed. */
const KEYS_MAX = 1024

interface Stage<T> {
  readonly inputs: readonly unknown[]
  readonly sources: number
  readonly checkedAt: number
  readonly result: T
}

interface List<K, T> {
  readonly items: readonly K[]
  /** Belongs to the list alone, and is changed in place. */
  readonly entries: Entry<T>[]
  /** Of the entries. */
  readonly results: readonly T[]
  /** Of all entries. */
  readonly sources: number
  readonly checkedAt: number
  /** Of the entries; created at the first use, and updated from one list to the next. */
  readers: Readers<Entry<T>> | undefined
}

/**
 * `inputs`: values that the result depends on besides `key`, compared one by one. `compute` gets the result for the
 * same key that is no longer valid.
 */
export type Remember<K extends object, T> = (
  key: K,
  inputs: readonly unknown[],
  compute: (before: T | undefined) => T,
) => T

/** Computed again only when the source is another object. */
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
  readonly #sources: SourceState[] = []

  source(): Source {
    if (this.#sources.length === SOURCES_MAX) throw new RangeError(`more than ${SOURCES_MAX} sources`)
    return this.#sources.push({ changedAt: 0, wholeAt: 0, keys: new Map(), lastRead: undefined }) - 1
  }

  /**
   * From now on reads there may return something else; with `keys`, only reads of these keys and of all. Must not be
   * called during a computation.
   */
  changed(source: Source, keys?: readonly string[]): void {
    const state = this.#sources[source]
    if (state === undefined) return
    state.changedAt = ++this.#changes
    if (keys !== undefined && state.keys.size + keys.length <= KEYS_MAX) {
      for (const key of keys) state.keys.set(key, this.#changes)
      return
    }
    state.wholeAt = this.#changes
    state.keys.clear()
  }

  /**
   * Reads a value that may be different after a change of the source, or of one key in it. `look` gets the key: one
   * function for all keys takes less memory than one for each.
   */
  read<T>(source: Source, look: (key: string) => T, key?: string): T {
    const found = look(key ?? '')
    const reading = this.#reading
    if (reading === undefined) return found
    reading.sources |= 1 << source
    if (reading.reads !== undefined) addRead(reading.reads, this.#readOf({ source, key, look, found }))
    return found
  }

  table<K extends object, T>(): Remember<K, T> {
    const entries = new WeakMap<K, Entry<T>>()
    return (key, inputs, compute) => {
      let entry = entries.get(key)
      if (entry === undefined || !isIdentical(entry.inputs, inputs) || !this.#holds(entry)) {
        const before = entry?.result
        entry = this.#compute(inputs, () => compute(before))
        entries.set(key, entry)
      }
      this.#isPart(entry)
      return entry.result
    }
  }

  /**
   * For all objects of a list: computes only replaced objects, and those that read a changed key. `compute` gets the
   * last result for the item, or for the item that it replaces, if it is known.
   */
  list<K extends object, T extends object>(
    compute: (item: K, before: T | undefined) => T,
  ): (items: readonly K[]) => readonly T[] {
    let last: List<K, T> = { items: [], entries: [], results: [], sources: 0, checkedAt: 0, readers: undefined }
    const entryOf: EntryOf<K, T> = (item, before) => this.#compute([], () => compute(item, before?.result))
    return (items) => {
      last = this.#listAfter(last, items, entryOf)
      if (this.#reading !== undefined) {
        if (this.#reading.reads !== undefined) this.#reading.parts.push(...last.entries)
        this.#reading.sources |= last.sources
      }
      return last.results
    }
  }

  /** For a computation over all objects: repeated after any change of a source that it has read. */
  stage<T>(): (inputs: readonly unknown[], compute: () => T) => T {
    let last: Stage<T> | undefined
    return (inputs, compute) => {
      if (last === undefined || !isIdentical(last.inputs, inputs) || !this.#isUntouched(last)) {
        const reading: Reading = { reads: undefined, parts: [], sources: 0 }
        const result = this.#whileReading(reading, compute)
        last = { inputs: [...inputs], sources: reading.sources, checkedAt: this.#changes, result }
      }
      return last.result
    }
  }

  #readOf(read: Read): Read {
    const state = this.#sources[read.source]
    if (state === undefined) return read
    const last = state.lastRead
    if (last !== undefined && last.key === read.key && last.look === read.look && last.found === read.found) return last
    state.lastRead = read
    return read
  }

  #isPart(entry: Entry<unknown>): void {
    if (this.#reading === undefined) return
    if (this.#reading.reads !== undefined && entry.sources !== 0) this.#reading.parts.push(entry)
    this.#reading.sources |= entry.sources
  }

  #listAfter<K, T extends object>(last: List<K, T>, items: readonly K[], entryOf: EntryOf<K, T>): List<K, T> {
    const edits = changesBetween(last.items, items)
    const doubtful = this.#doubtfulOf(last)
    const checkedAt = this.#changes
    if (edits === undefined || doubtful === undefined) {
      const known = entriesOf(last, items)
      const entries = items.map((item, at) => {
        const entry = known[at]
        return entry !== undefined && this.#holds(entry) ? entry : entryOf(item, entry)
      })
      const results = resultsOf(entries)
      return {
        items,
        entries,
        results: isIdentical(last.results, results) ? last.results : results,
        sources: sourcesOf(entries),
        checkedAt,
        readers: undefined,
      }
    }
    const stale = placesOf(
      last.entries,
      [...doubtful].filter((entry) => !this.#holds(entry)),
    )
    const changes = entryEdits(last.entries, withStale(edits, last.items, stale), entryOf)
    if (changes.length === 0) return { ...last, items, checkedAt }
    for (const { removed, added } of changes) {
      for (const entry of removed) last.readers?.remove(entry)
      for (const entry of added) last.readers?.add(entry)
    }
    const sources = changes.reduce((bits, { added }) => bits | sourcesOf(added), last.sources)
    const results = changesOfResults(changes)
    makeChanges(last.entries, changes)
    return {
      items,
      entries: last.entries,
      results: results.length === 0 ? last.results : changed(last.results, results),
      sources,
      checkedAt,
      readers: last.readers,
    }
  }

  /** Entries that have read a changed key; undefined: any may have. */
  #doubtfulOf<K, T>(list: List<K, T>): ReadonlySet<Entry<T>> | undefined {
    const doubtful = new Set<Entry<T>>()
    for (const [source, { changedAt, wholeAt, keys }] of this.#sources.entries()) {
      if (changedAt <= list.checkedAt || (list.sources & (1 << source)) === 0) continue
      if (wholeAt > list.checkedAt) return undefined
      list.readers ??= Readers.of(list.entries)
      const later = [...keys].flatMap(([key, at]) => (at > list.checkedAt ? [key] : []))
      for (const entry of list.readers.of(source, later)) doubtful.add(entry)
    }
    return doubtful
  }

  /** Inputs aside. */
  #holds(entry: Entry<unknown>): boolean {
    if (this.#isUntouched(entry)) return true
    const { reads, parts } = entry
    // Thousands of times in a translation: no iterators here.
    for (let index = 0; index < reads.length; index++) {
      const read = reads[index]
      if (read !== undefined && this.#isDoubtful(read, entry.checkedAt) && read.look(read.key ?? '') !== read.found)
        return false
    }
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]
      if (part !== undefined && !this.#holds(part)) return false
    }
    entry.checkedAt = this.#changes
    return true
  }

  #isDoubtful({ source, key }: Read, checkedAt: number): boolean {
    const state = this.#sources[source]
    if (state === undefined || state.changedAt <= checkedAt) return false
    return key === undefined || state.wholeAt > checkedAt || (state.keys.get(key) ?? 0) > checkedAt
  }

  #isUntouched({ sources, checkedAt }: Pick<Entry<unknown>, 'sources' | 'checkedAt'>): boolean {
    if (checkedAt === this.#changes) return true
    // From the lowest bit to the highest.
    for (let rest = sources; rest !== 0; rest &= rest - 1) {
      const source: Source = 31 - Math.clz32(rest & -rest)
      if ((this.#sources[source]?.changedAt ?? 0) > checkedAt) return false
    }
    return true
  }

  #compute<T>(inputs: readonly unknown[], compute: () => T): Entry<T> {
    const reads: Read[] = []
    const reading: Reading = { reads, parts: [], sources: 0 }
    const result = this.#whileReading(reading, compute)
    const { parts, sources } = reading
    return { inputs: kept(inputs), reads: kept(reads), parts: kept(parts), sources, checkedAt: this.#changes, result }
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

type EntryOf<K, T> = (item: K, before: Entry<T> | undefined) => Entry<T>

/** With more of them, reading the whole list is cheaper than one search for each. */
const SEARCHES_MAX = 64

/** In order. */
function placesOf<T>(list: readonly T[], items: readonly T[]): number[] {
  if (items.length <= SEARCHES_MAX) return items.map((item) => list.indexOf(item)).sort((a, b) => a - b)
  const wanted = new Set(items)
  return list.flatMap((item, at) => (wanted.has(item) ? [at] : []))
}

/** A result often reads the same again, as for the second rule of a route. */
function addRead(reads: Read[], read: Read): void {
  for (let at = reads.length - 1; at >= Math.max(reads.length - COMPARED_READS, 0); at--) {
    if (reads[at] === read) return
  }
  reads.push(read)
}

const NONE: readonly never[] = []

/** Trimmed to its length, and undefined when empty: there are thousands of them. */
function kept<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list.slice()
}

/** By the places of `items`. */
function entriesOf<K, T>(last: List<K, T>, items: readonly K[]): readonly (Entry<T> | undefined)[] {
  const known = new Map(last.items.map((item, at) => [item, last.entries[at]]))
  return items.map((item) => known.get(item))
}

/** Replaces the items at these places. */
function withStale<K>(
  edits: readonly ListChange<K>[],
  items: readonly K[],
  stale: readonly number[],
): readonly ListChange<K>[] {
  if (stale.length === 0) return edits
  const edited = new Set(edits.flatMap(({ at, removed }) => removed.map((_, index) => at + index)))
  const staying = stale.filter((place) => !edited.has(place))
  const again = staying.map((at) => ({ at, removed: items.slice(at, at + 1), added: items.slice(at, at + 1) }))
  // What comes in front of an item goes before that item.
  return [...edits, ...again].sort((a, b) => a.at - b.at || a.removed.length - b.removed.length)
}

function entryEdits<K, T>(
  entries: readonly Entry<T>[],
  edits: readonly ListChange<K>[],
  entryOf: EntryOf<K, T>,
): readonly ListChange<Entry<T>>[] {
  return edits.map(({ at, removed, added }) => {
    const old = entries.slice(at, at + removed.length)
    const isOneForOne = old.length === added.length
    return { at, removed: old, added: added.map((item, place) => entryOf(item, isOneForOne ? old[place] : undefined)) }
  })
}

function changesOfResults<T>(changes: readonly ListChange<Entry<T>>[]): readonly ListChange<T>[] {
  return changes.flatMap(({ at, removed, added }) => {
    const [old, made] = [resultsOf(removed), resultsOf(added)]
    return isIdentical(old, made) ? [] : [{ at, removed: old, added: made }]
  })
}

function resultsOf<T>(entries: readonly Entry<T>[]): T[] {
  return entries.map(({ result }) => result)
}

function sourcesOf(entries: readonly Entry<unknown>[]): number {
  return entries.reduce((bits, { sources }) => bits | sources, 0)
}
