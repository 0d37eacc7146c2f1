// The compiled form of one node, and the folding of constants.
import { CelError } from '../expression.ts'
import { Frame, type Thunk } from './frame.ts'

export interface Code {
  readonly run: Thunk
  /** Nodes below and including this one: what one evaluation of it is charged inside a loop. */
  readonly cost: number
  /** The value, when every evaluation gives the same. */
  readonly constant: { readonly value: unknown } | undefined
}

export function constantCode(value: unknown, cost = 1): Code {
  return { run: () => value, cost, constant: { value } }
}

export function code(run: Thunk, parts: readonly Code[]): Code {
  let cost = 1
  for (const part of parts) cost += part.cost
  return { run, cost, constant: undefined }
}

const NO_VARIABLES = Object.freeze({})

/** Runs code that reads no variables, once. If it fails, the code is kept: the error then occurs in the evaluation. */
export function folded(made: Code, parts: readonly Code[]): Code {
  if (parts.some((part) => part.constant === undefined)) return made
  const outcome = runOnce(made)
  return 'error' in outcome ? made : constantCode(outcome.value, made.cost)
}

export function runOnce(made: Code): { readonly value: unknown } | { readonly error: CelError } {
  try {
    return { value: made.run(new Frame(NO_VARIABLES)) }
  } catch (error) {
    if (error instanceof CelError) return { error }
    throw error
  }
}
