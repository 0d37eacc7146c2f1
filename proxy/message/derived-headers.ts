// Lists of header fields that are derived from those of a peer. Peers repeat their fields: the last result is used
// again, with its text on the wire.
import { type FieldsOrigin, hasSameFields, HeaderList } from './headers.ts'

/** Depends on nothing but the fields of the list. */
type Change = (headers: HeaderList) => void

/** A changed copy. */
export function changed(from: HeaderList, change: Change): HeaderList {
  const copy = from.clone()
  change(copy)
  return copy
}

/** The lists of one change. */
export class DerivedHeaders {
  #from: readonly string[] = []
  #origin: FieldsOrigin | undefined = undefined

  /** A changed copy. `change` is not called again for fields that are equal to the last ones. */
  of(from: HeaderList, change: Change): HeaderList {
    // The names as the peer spelled them are part of the text.
    if (from.wireNames !== undefined) return changed(from, change)
    if (this.#origin !== undefined && hasSameFields(from.fields, this.#from)) return HeaderList.repeated(this.#origin)
    const list = changed(from, change)
    this.#from = from.fields.slice()
    this.#origin = { fields: list.fields.slice(), block: undefined }
    list.origin = this.#origin
    return list
  }
}

/** Changes by a key of which few exist. */
export class DerivedByKey<K> {
  readonly #lists = new Map<K, DerivedHeaders>()

  of(key: K): DerivedHeaders {
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const lists = new DerivedHeaders()
    this.#lists.set(key, lists)
    return lists
  }
}
