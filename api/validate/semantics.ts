// Parts of a kind that JSON Schema cannot express: defaults, list kinds, rules. One generated tree for each kind; equal
// nodes are shared.

export interface Rule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** A child that needs nothing is left out. */
export interface Semantics {
  /** Values of the fields that are written when absent. */
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly fields?: Readonly<Record<string, Semantics>>
  readonly items?: Semantics
  /** Values of a map. */
  readonly values?: Semantics
  /** Fields whose null is a value; of all others it is dropped. */
  readonly nullable?: readonly string[]
  readonly nullableValues?: true
  /** Fields that the schema does not name are kept as they are. */
  readonly free?: true
  /** The fields that the schema does name, where it is free for others. */
  readonly known?: readonly string[]
  /** `set`, or the keys that identify the entries of a list-map. */
  readonly list?: 'set' | readonly string[]
  /** A number that is not an integer in CEL. */
  readonly double?: true
  /** Fields whose name is written otherwise in CEL. */
  readonly escaped?: Readonly<Record<string, string>>
  readonly rules?: readonly Rule[]
}
