// The seam of the expression language: what every user of CEL sees. The engine behind it is a library (docs/adr).

/** Where and why a text is not a valid expression. Line and column start at 1. */
export interface CelProblem {
  readonly message: string
  readonly line: number
  readonly column: number
}

/**
 * Variables of one evaluation. Values may be getters: nothing is built that no expression reads. Reading a variable
 * that is not there is an evaluation error ("no such key").
 */
export type CelVariables = Readonly<Record<string, unknown>>

/** Steps that evaluations may still take together, such as those of one request. Counted down by `evaluate`. */
export interface CelBudget {
  celStepsLeft: number
}

export interface CelExpression {
  readonly source: string
  /**
   * Top-level variables and one member below them that the expression reads by literal member access, e.g. `request`,
   * `request.body`, `jwt.sub`. `variables()` reads everything: then the set is `{'*'}`.
   */
  readonly references: ReadonlySet<string>
  /**
   * `budget`: unset, the expression has one of its own.
   * @throws {CelError} with a message for the log; never anything else.
   */
  evaluate(variables: CelVariables, budget?: CelBudget): unknown
}

/** One place of an expression that reads a variable, or members of one by their literal names. */
export interface CelRead {
  /** `['request', 'headers']`; the parts before the last are reads of their own. */
  readonly path: readonly string[]
  /** Its absence does not make the expression fail: within has(), default() and coalesce(). */
  readonly isLenient: boolean
  /** Of its last part in the text. */
  readonly offset: number
}

/** What an expression reads by name; local variables do not count. */
export interface CelReads {
  readonly reads: readonly CelRead[]
  /** Dotted paths whose presence the expression tests, so that it does not depend on them. */
  readonly tested: ReadonlySet<string>
  /** `variables()` is called. */
  readonly isEverythingRead: boolean
}

export class CelError extends Error {}

/** The evaluation used up its budget. No operator or function may absorb it. */
export class BudgetExceeded extends CelError {}

/** A variable or key that is not there: what `default()` replaces. */
export class MissingKey extends CelError {}

export type CelCompilation = { readonly expression: CelExpression } | { readonly problem: CelProblem }
