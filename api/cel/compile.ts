// The entry of the expression language: text to expression, once, when configuration changes. Never per request.
import { code, type Code } from './engine/code.ts'
import { compileNode } from './engine/compile-node.ts'
import { asCelError, celError } from './engine/errors.ts'
import { EVALUATION_STEPS_MAX, Frame } from './engine/frame.ts'
import { metered } from './engine/meter.ts'
import { parseSource, problemAt } from './engine/parse.ts'
import { CompileError, type CompileEnvironment, READS_EVERYTHING, Scope } from './engine/scope.ts'
import { plainResult } from './engine/types.ts'
import type { CelBudget, CelCompilation, CelExpression, CelProblem, CelReads, CelVariables } from './expression.ts'
import { BUILT_IN_FUNCTIONS } from './functions/table.ts'

export { EVALUATION_STEPS_MAX } from './engine/frame.ts'
export { SOURCE_LENGTH_MAX } from './engine/parse.ts'
export type { CompileEnvironment } from './engine/scope.ts'

/** The language of policies, without functions declared by the user. */
export const STANDARD_ENVIRONMENT: CompileEnvironment = { functions: BUILT_IN_FUNCTIONS, userFunctions: new Map() }

/** Compiles a text; a mistake in it is a value with line and column. Never throws. */
export function compileCel(source: string): CelCompilation {
  return compileIn(STANDARD_ENVIRONMENT, source)
}

/** As compileCel, with another set of functions. */
export function compileIn(environment: CompileEnvironment, source: string): CelCompilation {
  const compiled = compiledIn(environment, source)
  if ('problem' in compiled) return compiled
  const { scope, made } = compiled
  return { expression: new CompiledExpression(source, scope.references, made) }
}

/** The names that a text reads, or the mistake in it. */
export function readsOf(
  source: string,
  environment: CompileEnvironment = STANDARD_ENVIRONMENT,
): CelReads | { readonly problem: CelProblem } {
  const compiled = compiledIn(environment, source)
  if ('problem' in compiled) return compiled
  const { reads, tested, references } = compiled.scope
  return { reads, tested, isEverythingRead: references.has(READS_EVERYTHING) }
}

type Compiled = { readonly scope: Scope; readonly made: Code } | { readonly problem: CelProblem }

function compiledIn(environment: CompileEnvironment, source: string): Compiled {
  const parsed = parseSource(source)
  if ('problem' in parsed) return parsed
  const scope = new Scope(environment, source, compileNode)
  try {
    return { scope, made: scope.compile(parsed.node) }
  } catch (error) {
    if (error instanceof CompileError) return { problem: error.problem }
    if (error instanceof RangeError) return { problem: problemAt(source, 0, 'nested too deeply') }
    throw error
  }
}

/** For configuration from the control plane: a text that does not compile becomes an expression that always fails. */
export function compilePermissive(
  source: string,
  environment: CompileEnvironment = STANDARD_ENVIRONMENT,
): CelExpression {
  const compilation = compileIn(environment, source)
  return 'expression' in compilation ? compilation.expression : brokenExpression(source, compilation.problem)
}

function brokenExpression(source: string, problem: CelProblem): CelExpression {
  const message = `does not compile: ${problem.message} (line ${problem.line}, column ${problem.column})`
  const failing = code(() => {
    throw celError(message)
  }, [])
  return new CompiledExpression(source, new Set(), failing)
}

class CompiledExpression implements CelExpression {
  readonly source: string
  readonly references: ReadonlySet<string>
  readonly #code: Code

  constructor(source: string, references: ReadonlySet<string>, compiled: Code) {
    this.source = source
    this.references = references
    this.#code = compiled
  }

  evaluate(variables: CelVariables, budget?: CelBudget): unknown {
    const frame = new Frame(variables, budget === undefined ? EVALUATION_STEPS_MAX : budget.celStepsLeft)
    const before = metered(frame)
    try {
      return plainResult(this.#code.run(frame))
    } catch (error) {
      throw asCelError(error)
    } finally {
      metered(before)
      if (budget !== undefined) budget.celStepsLeft = Math.max(0, frame.stepsLeft)
    }
  }
}
