// Checks CEL at translation time. The text always passes through: a broken one fails when the proxy evaluates it.
import { compileCel, compileIn, STANDARD_ENVIRONMENT } from '#api/cel/compile.ts'
import type { FieldPath } from '#api/problem.ts'
import { type FieldContext, reportError } from './field.ts'

/** False when the text is not a valid expression; the problem is reported. */
export function checkExpression(text: string, path: FieldPath, context: FieldContext): boolean {
  const compiled = compileCel(text)
  if ('expression' in compiled) return true
  const { message, line, column } = compiled.problem
  reportError(context, {
    path,
    reason: 'InvalidExpression',
    message: `${context.field}: invalid CEL expression at ${path}, line ${line}, column ${column}: ${message}`,
  })
  return false
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
  reportError(context, { path, reason: 'InvalidExpression', message })
}
