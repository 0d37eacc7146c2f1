// Header fields of one message: a flat list in wire order, names lower case. No normalisation of values beyond
// trimming.

/** Fields that a peer repeats, and their text after the first write. `fields` never changes. */
export interface FieldsOrigin {
  readonly fields: readonly string[]
  block: string | undefined
}

export function hasSameFields(fields: readonly string[], others: readonly string[]): boolean {
  return fields.length === others.length && startsWithFields(fields, others)
}

export function startsWithFields(fields: readonly string[], first: readonly string[]): boolean {
  if (fields.length < first.length) return false
  for (let i = 0; i < first.length; i++) if (fields[i] !== first[i]) return false
  return true
}

/**
 * An ordered multimap of header fields (RFC 9110 section 5). Names are lower case; the engine stores the original
 * spelling separately for `http1HeaderCase: Preserve`. Lists are short (the default limit is 100 fields), so a linear
 * scan is faster than a hash map and allocates less.
 */
export class HeaderList {
  /** name, value, name, value, … Read-only outside this class and the HTTP engine. */
  readonly fields: string[]
  /** lower case → original spelling, if the listener preserves the case; else undefined. */
  wireNames: Map<string, string> | undefined = undefined
  /** For the engine: the parsed form of the list, so that an unchanged list is not serialized again. */
  origin: FieldsOrigin | undefined = undefined

  constructor(fields: string[] = []) {
    this.fields = fields
  }

  static of(entries: readonly (readonly [string, string])[]): HeaderList {
    const list = new HeaderList()
    for (const [name, value] of entries) list.append(name, value)
    return list
  }

  /** With the fields of a list that is written again and again, whose text is kept. */
  static repeated(origin: FieldsOrigin): HeaderList {
    const list = new HeaderList(origin.fields.slice())
    list.origin = origin
    return list
  }

  /** Value of the first field of that name; `name` must be lower case. */
  get(name: string): string | undefined {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1]
    return undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** More than one field has this name: peers may disagree on which one counts. */
  isRepeated(name: string): boolean {
    const { fields } = this
    let count = 0
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name && ++count > 1) return true
    return false
  }

  getAll(name: string): string[] {
    const { fields } = this
    const values: string[] = []
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) values.push(fields[i + 1] ?? '')
    return values
  }

  /** Replaces all fields of this name by one, at the position of the first. */
  set(name: string, value: string): void {
    const { fields } = this
    const at = fields.indexOf(name)
    if (at < 0 || at % 2 !== 0) {
      this.remove(name)
      fields.push(name, value)
      return
    }
    fields[at + 1] = value
    this.#removeFrom(name, at + 2)
  }

  append(name: string, value: string): void {
    this.fields.push(name, value)
  }

  remove(name: string): void {
    this.#removeFrom(name, 0)
  }

  /** A copy without the fields of these names. */
  without(names: ReadonlySet<string>): HeaderList {
    const { fields } = this
    const kept: string[] = []
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i] ?? ''
      if (!names.has(name)) kept.push(name, fields[i + 1] ?? '')
    }
    const copy = new HeaderList(kept)
    copy.wireNames = this.wireNames
    return copy
  }

  clone(): HeaderList {
    const copy = new HeaderList(this.fields.slice())
    copy.wireNames = this.wireNames
    return copy
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) yield [fields[i] ?? '', fields[i + 1] ?? '']
  }

  #removeFrom(name: string, start: number): void {
    const { fields } = this
    let kept = start
    for (let i = start; i < fields.length; i += 2) {
      if (fields[i] === name) continue
      if (kept !== i) {
        fields[kept] = fields[i] ?? ''
        fields[kept + 1] = fields[i + 1] ?? ''
      }
      kept += 2
    }
    fields.length = kept
  }
}
