// What the CRD of this version would reject in the form of a GwModel: its values decide where requests go and who may
// send them, so a model with an invalid value answers no request until it is corrected.
import type { Problem } from '#api/problem.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import { understood } from '#api/validate/understood.ts'
import { MALFORMED } from '../defects.ts'
import { isHarmless, said } from '../policy/faults.ts'

export interface ModelFaults {
  /** Each with its field. Translation checks the rules across fields. */
  readonly faults: readonly Problem[]
  /** Nothing is wrong with the policies, which have the schemas of those of a GwBackend. */
  readonly hasSoundPolicies: boolean
}

export function modelFaults(model: GwModel): ModelFaults {
  const { leftOut, kept } = understood(model)
  const faults = leftOut.map((problem): Problem => {
    const { path, message } = problem
    const text = said(path, message)
    if (isHarmless(problem)) return { path, reason: MALFORMED, message: text, severity: 'warning' }
    const effect = 'the model is not served until it is corrected'
    return { path, reason: MALFORMED, message: `${text}; ${effect}`, severity: 'error' }
  })
  return { faults, hasSoundPolicies: leftOut.length === 0 && kept.length === 0 }
}

export function areFatal(faults: readonly Problem[]): boolean {
  return faults.some(({ severity }) => severity === 'error')
}
