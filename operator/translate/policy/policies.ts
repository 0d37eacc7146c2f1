// The fields of all GwPolicies, each policy by itself: before its targets are resolved.
import { understood } from '#api/validate/understood.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { Memory } from '../memory.ts'
import { reportOtherFaults } from './faults.ts'
import { emptyReport, type FieldReport } from './field.ts'
import { type LeadingPolicy, leadOf } from './follow-policies.ts'
import { fieldScope, type PolicyScope } from './scope.ts'
import { FIELD_PATHS, type SectionEmission, translateSections } from './section.ts'
import { sharedLocationProblems } from './shared-location.ts'
import { TargetQueries } from './target-queries.ts'
import { targetKinds, type TargetQuery } from './targets.ts'

export interface PolicyFields {
  readonly policy: GwPolicy
  readonly query: TargetQuery
  readonly emissions: readonly SectionEmission[]
  readonly report: FieldReport
  /** What its references lead to; one if it has any. */
  readonly leads: readonly LeadingPolicy[]
}

export function policyFields(
  memory: Memory,
  scope: PolicyScope,
): (policies: readonly GwPolicy[]) => readonly PolicyFields[] {
  const queries = new TargetQueries()
  const fields = memory.list((policy: GwPolicy) => fieldsOf(policy, queries.of(policy), scope))
  return (policies) => {
    queries.keepFor(policies)
    return fields(policies)
  }
}

function fieldsOf(policy: GwPolicy, query: TargetQuery, scope: PolicyScope): PolicyFields {
  const report = emptyReport()
  const { object, ...faults } = understood(policy)
  // The rest of a policy with well-formed targets (shape.ts) is a policy.
  const { spec } = object as GwPolicy
  const emissions = translateSections(spec, { scope: fieldScope(policy, targetKinds(policy), scope), report, faults })
  reportOtherFaults(faults, FIELD_PATHS, report)
  report.problems.push(...sharedLocationProblems(emissions.map(({ payload }) => payload)))
  return { policy, query, emissions, report, leads: leadOf(query, report.references) }
}
