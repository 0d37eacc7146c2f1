// The errors of an evaluation. Built without a stack trace: a missing key is an ordinary outcome on the request path.
import { BudgetExceeded, CelError, MissingKey } from '../expression.ts'

/** Builds an error without the cost of a stack trace. */
export function quietly<E extends Error>(build: () => E): E {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return build()
  } finally {
    Error.stackTraceLimit = limit
  }
}

export const celError = (message: string): CelError => quietly(() => new CelError(message))

export const missingKey = (key: string): MissingKey => quietly(() => new MissingKey(`no such key: ${key}`))

export const undeclared = (name: string): MissingKey => quietly(() => new MissingKey(`undeclared reference to ${name}`))

/** For every catch in the engine: returns the error to continue with. Rethrows errors that must not be absorbed. */
export function absorbed(error: unknown): CelError {
  if (error instanceof BudgetExceeded) throw error
  return asCelError(error)
}

/** Anything thrown below becomes a CelError: a host getter may fail, and the runtime has limits of its own. */
export function asCelError(error: unknown): CelError {
  if (error instanceof CelError) return error
  return celError(error instanceof Error ? error.message : 'evaluation failed')
}
