// What the CRD of this version would reject in a GwBackend, except in its inline policies (policy/inline.ts): these
// values decide where requests go, so a backend or provider with an invalid value is not used.
import type { FieldPath, Problem } from '#api/problem.ts'
import { understood } from '#api/validate/understood.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import { MALFORMED } from '../defects.ts'
import { isHarmless, said } from '../policy/faults.ts'

const INLINE_POLICIES =
  /^spec\.(?:policies|ai\.groups\[\d+\]\.providers\[\d+\]\.policies|mcp\.targets\[\d+\]\.static\.policies)(?:[.[]|$)/
const OF_PROVIDER = /^spec\.ai\.(?:provider|groups\[\d+\]\.providers\[\d+\])(?:[.[]|$)/

export interface BackendFaults {
  /** Without those of inline policies. */
  readonly faults: readonly Problem[]
  /** Nothing is wrong with inline policies. */
  readonly hasSoundPolicies: boolean
}

export function backendFaults(backend: GwBackend): BackendFaults {
  const { leftOut, kept } = understood(backend)
  const all = [...leftOut, ...kept]
  return { faults: bodyFaults(all), hasSoundPolicies: all.length === 0 }
}

function bodyFaults(all: readonly Problem[]): Problem[] {
  return all
    .filter(({ path }) => !INLINE_POLICIES.test(path))
    .map((one) => ({
      path: one.path,
      reason: MALFORMED,
      message: said(one.path, one.message),
      severity: isHarmless(one) ? 'warning' : 'error',
    }))
}

export function isOfProvider(path: FieldPath): boolean {
  return OF_PROVIDER.test(path)
}
