// How a backend that cannot be used is rendered: what is wrong with it stays in the status, what this version does not
// run is reported to clients as well.
import type { Backend } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import { NOT_YET_PROGRAMMED } from '../policy/field.ts'

export function refusalOf(problems: readonly Problem[]): Pick<Backend, 'invalid' | 'unsupported'> {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const text = errors.map(({ message }) => message).join('\n')
  return errors.length > 0 && errors.every(isOfProvider) ? { unsupported: text } : { invalid: text }
}

/** A policy that is not run refuses its traffic like one that is broken. */
function isOfProvider({ reason, path }: Problem): boolean {
  return reason === NOT_YET_PROGRAMMED && !path.includes('policies')
}
