// Which results have read which keys: when keys of a source have changed, only these results must be checked.

/** The data of many lookups, such as all objects of a kind. */
export type Source = number

/** A result, with what was read for it and for its parts. */
export interface Reader {
  readonly reads: readonly SourceRead[]
  readonly parts: readonly Reader[]
}

interface SourceRead {
  readonly source: Source
  /** The only key of the source that was read. */
  readonly key: string | undefined
}

/** Most keys have one reader. A set with one entry takes 250 bytes. */
type Several<R> = R | Set<R>

export class Readers<R extends Reader> {
  /** By source and key; readers of all of a source have the key undefined. */
  readonly #sources = new Map<Source, Map<string | undefined, Several<R>>>()

  static of<R extends Reader>(readers: readonly R[]): Readers<R> {
    const made = new Readers<R>()
    for (const reader of readers) made.add(reader)
    return made
  }

  /** Its reads are complete: no code may add to them after this. */
  add(reader: R): void {
    forEachRead(reader, ({ source, key }) => {
      const keys = this.#sources.get(source) ?? new Map<string | undefined, Several<R>>()
      this.#sources.set(source, keys)
      const known = keys.get(key)
      if (known instanceof Set) known.add(reader)
      else if (known !== reader) keys.set(key, known === undefined ? reader : new Set([known, reader]))
    })
  }

  remove(reader: R): void {
    forEachRead(reader, ({ source, key }) => {
      const keys = this.#sources.get(source)
      const known = keys?.get(key)
      if (known instanceof Set) known.delete(reader)
      if (known === reader || (known instanceof Set && known.size === 0)) keys?.delete(key)
    })
  }

  /** Those that have read one of the keys, or all of the source. */
  of(source: Source, keys: Iterable<string>): Set<R> {
    const known = this.#sources.get(source)
    const found = new Set<R>()
    const take = (readers: Several<R> | undefined): void => {
      if (readers instanceof Set) for (const reader of readers) found.add(reader)
      else if (readers !== undefined) found.add(readers)
    }
    take(known?.get(undefined))
    for (const key of keys) take(known?.get(key))
    return found
  }
}

function forEachRead(reader: Reader, take: (read: SourceRead) => void): void {
  for (const read of reader.reads) take(read)
  for (const part of reader.parts) forEachRead(part, take)
}
