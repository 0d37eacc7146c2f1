// How a backend that cannot be used is rendered: only the status reports its mistakes; clients also get the message if
// this version does not support a setting.
import type { Backend } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import { NOT_YET_PROGRAMMED } from '../policy/field.ts'

export function refusalOf(problems: readonly Problem[]): Pick<Backend, 'invalid' | 'unsupported'> {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const text = errors.map(({ message }) => message).join('\n')
  return errors.length > 0 && errors.every(isOfProvider) ? { unsupported: text } : { invalid: text }
}

/** A policy that this version does not run rejects its traffic, as a broken one does. */
function isOfProvider({ reason, path }: Problem): boolean {
  return reason === NOT_YET_PROGRAMMED && !path.includes('policies')
}
