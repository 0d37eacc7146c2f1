// Helpers for the tests of the language. Not shipped.
import { compileCel } from './compile.ts'
import { CelError, type CelExpression, type CelVariables } from './expression.ts'

export function expressionOf(source: string): CelExpression {
  const compilation = compileCel(source)
  if ('problem' in compilation) throw new Error(`${source}: ${compilation.problem.message}`)
  return compilation.expression
}

export function evaluate(source: string, variables: CelVariables = {}): unknown {
  return expressionOf(source).evaluate(variables)
}

/** The message of the CelError that the evaluation ends with. */
export function evaluationError(source: string, variables: CelVariables = {}): string {
  const expression = expressionOf(source)
  try {
    expression.evaluate(variables)
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
  throw new Error(`${source}: evaluated without an error`)
}
