// What the CRD of this version would have refused in the form of a GwModel: its values decide where requests go and who
// may send them, so a model that has a wrong one answers nothing until it is corrected.
import type { Problem } from '#api/problem.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import { understood } from '#api/validate/understood.ts'
import { isHarmless, MALFORMED, said } from '../policy/faults.ts'

/** Each with its field. Rules across fields are those of the translation. */
export function modelFaults(model: GwModel): Problem[] {
  return understood(model).leftOut.map((problem) => {
    const { path, message } = problem
    const text = said(path, message)
    if (isHarmless(problem)) return { path, reason: MALFORMED, message: text, severity: 'warning' }
    const effect = 'the model answers nothing until it is corrected'
    return { path, reason: MALFORMED, message: `${text}; ${effect}`, severity: 'error' }
  })
}

export function areFatal(faults: readonly Problem[]): boolean {
  return faults.some(({ severity }) => severity === 'error')
}
