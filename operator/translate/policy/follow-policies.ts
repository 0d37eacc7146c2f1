// What policies lead to is reached from where they are in force, and may carry policies itself: followed until nothing
// new is found.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { DeliveredBackend } from '../model/model.ts'
import { follow, type GrowingReach } from '../reach.ts'
import { referencesOf } from '../references.ts'
import type { FieldReport } from './field.ts'
import type { TargetLookup } from './target.ts'
import { resolveTargets } from './targets.ts'

export interface LeadingPolicy {
  readonly policy: GwPolicy
  readonly report: Pick<FieldReport, 'references'>
}

export interface FollowLookup extends TargetLookup {
  /** Grown here. */
  readonly reach: ReadonlyMap<string, GrowingReach>
}

export function followPolicies(
  policies: readonly LeadingPolicy[],
  lookup: FollowLookup,
  backends: ReadonlyMap<string, DeliveredBackend>,
): void {
  const leading = policies.flatMap(({ policy, report }) =>
    report.references.length === 0
      ? []
      : [{ policy, references: referencesOf(report.references), done: new Set<string>() }],
  )
  // Each round but the last follows a policy at a Gateway for the first time.
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    for (const { policy, references, done } of leading) {
      const { targets } = resolveTargets(policy, lookup.snapshot, lookup)
      for (const key of targets.flatMap(({ gateways }) => gateways)) {
        const reach = lookup.reach.get(key)
        if (reach === undefined || done.has(key)) continue
        done.add(key)
        follow(references, reach, backends)
        hasGrown = true
      }
    }
  }
}
