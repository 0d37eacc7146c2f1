// Functions that a file declares. Every expression of the file is checked with them, wherever it is.
import { STANDARD_ENVIRONMENT } from '#api/cel/compile.ts'
import { compileUserFunctions, type UserFunctionsOutcome } from '#api/cel/user-functions.ts'
import * as z from 'zod'
import { isMap } from './object.ts'

const NONE: UserFunctionsOutcome = { environment: STANDARD_ENVIRONMENT }

/** Of the file that is being parsed; parsing is synchronous. */
let current: UserFunctionsOutcome = NONE

export function currentFunctions(): UserFunctionsOutcome {
  return current
}

/** `inside` parses `file`. */
export function withFunctionsOf<T>(file: unknown, inside: () => T): T {
  const outer = current
  const config = isMap(file) && isMap(file['config']) ? file['config'] : {}
  const text = config['customFunctions']
  current = typeof text === 'string' ? compileUserFunctions(text) : NONE
  try {
    return inside()
  } finally {
    current = outer
  }
}

/** Compiled by `withFunctionsOf`. */
export const customFunctions = z.string().superRefine((_text, context) => {
  if ('environment' in current) return
  const { message, line, column } = current.problem
  context.addIssue({
    code: 'custom',
    message: `is not valid: ${message} (line ${line}, column ${column} of the text)`,
  })
})
