// Checks CEL at translation time. The text is always delivered: an invalid one fails when the proxy evaluates it.
import { compileIn, readsOf, STANDARD_ENVIRONMENT } from '#api/cel/compile.ts'
import type { CelProblem } from '#api/cel/expression.ts'
import { nameProblems } from '#api/cel/names.ts'
import type { FieldPath } from '#api/problem.ts'
import { type FieldContext, NOT_YET_PROGRAMMED, reportError } from './field.ts'

const INVALID_EXPRESSION = 'InvalidExpression'
/** The expression is valid, but reads a name that cannot exist. */
export const UNKNOWN_NAME = 'UnknownName'

/**
 * False when the text is not a valid expression, or reads by name what can never be there when it is evaluated; the
 * problem is reported.
 */
export function checkExpression(text: string, path: FieldPath, context: FieldContext): boolean {
  const found = readsOf(text)
  if ('problem' in found) {
    reportError(context, {
      path,
      reason: INVALID_EXPRESSION,
      message: `${context.field}: invalid CEL expression at ${placeOf(path, found.problem)}: ${found.problem.message}`,
    })
    return false
  }
  const problems = nameProblems(text, found, context.moment)
  for (const problem of problems) {
    context.report.problems.push({
      path,
      reason: problem.isNotYet ? NOT_YET_PROGRAMMED : UNKNOWN_NAME,
      message: `${context.field}: CEL expression at ${placeOf(path, problem)}: ${problem.message}`,
      severity: problem.isNotYet ? 'warning' : 'error',
    })
  }
  return problems.length === 0
}

function placeOf(path: FieldPath, { line, column }: CelProblem): string {
  return `${path}, line ${line}, column ${column}`
}

/** Functions whose value is several fields, and a text nowhere. */
const OF_SEVERAL_FIELDS: ReadonlySet<string> = new Set(['flatten', 'flattenRecursive'])
const ONE_VALUE = {
  ...STANDARD_ENVIRONMENT,
  functions: new Map([...STANDARD_ENVIRONMENT.functions].filter(([name]) => !OF_SEVERAL_FIELDS.has(name))),
}

/** As above, for the value of a metric label, of which there is one. */
export function checkSingleValue(text: string, path: FieldPath, context: FieldContext): void {
  if (!checkExpression(text, path, context) || 'expression' in compileIn(ONE_VALUE, text)) return
  const message =
    `${context.field}: ${path} calls flatten(), which is for logs and traces; a metric label has one value, and this ` +
    'one is "unknown"'
  reportError(context, { path, reason: INVALID_EXPRESSION, message })
}
