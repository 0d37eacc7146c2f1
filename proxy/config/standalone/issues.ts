// Issues of the schema, as problems with field paths: one for each unknown field.
import type * as z from 'zod'
import type { FieldProblem } from './build/context.ts'
import { pathTo } from './field-path.ts'
import { MESSAGE_SEPARATOR } from './schema/object.ts'

export function schemaProblems(issues: readonly z.core.$ZodIssue[]): FieldProblem[] {
  return issues.flatMap((issue) => {
    const path = pathTo('', ...issue.path)
    if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => error(path, message))
    if (issue.code !== 'unrecognized_keys') return [error(path, issue.message)]
    const messages = issue.message.split(MESSAGE_SEPARATOR)
    return issue.keys.map((key, index) => error(pathTo(path, key), messages[index] ?? issue.message))
  })
}

function error(path: string, message: string): FieldProblem {
  return { path, message, severity: 'error' }
}
