// Checks CEL at translation time. The text always passes through: a broken one fails when the proxy evaluates it.
import { compileCel } from '#api/cel/compile.ts'
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
