// The traits of models by name: rows of the files of this process (traits-file.ts), then the built-in ones.
import { BUILT_IN } from './built-in.ts'
import { UNKNOWN_MODEL, type ModelTraits, type TraitsRow } from './traits.ts'

/** Names come from clients: beyond these a name is looked up each time. */
const KNOWN_MAX = 1024
/** No vendor has longer names: patterns are not tried on them. */
const NAME_CHARS_MAX = 512

export class TraitsTable {
  readonly #rows: readonly TraitsRow[]
  readonly #known = new Map<string, ModelTraits>()

  constructor(rows: readonly TraitsRow[]) {
    this.#rows = [...rows, ...BUILT_IN]
  }

  /** `model`: as the provider gets it. */
  of(model: string): ModelTraits {
    const known = this.#known.get(model)
    if (known !== undefined) return known
    if (model.length > NAME_CHARS_MAX) return UNKNOWN_MODEL
    const traits = this.#rows.find(({ match }) => match.test(model))?.traits ?? UNKNOWN_MODEL
    if (this.#known.size < KNOWN_MAX) this.#known.set(model, traits)
    return traits
  }
}

let table = new TraitsTable([])

export function traitsOf(model: string): ModelTraits {
  return table.of(model)
}

/** For this thread, before its first request to a model. */
export function useTraits(rows: readonly TraitsRow[]): void {
  table = new TraitsTable(rows)
}
