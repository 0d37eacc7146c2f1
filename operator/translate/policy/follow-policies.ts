// What policies lead to is reached from where they are in force, and may carry policies itself: followed until nothing
// new is found.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { DeliveredBackend } from '../model/model.ts'
import { follow, type GrowingReach } from '../reach.ts'
import { referencesOf, type References } from '../references.ts'
import type { FieldReport } from './field.ts'
import type { TargetLookup } from './target.ts'
import { resolveTargets } from './targets.ts'

export interface LeadingPolicy {
  readonly policy: GwPolicy
  readonly report: Pick<FieldReport, 'references'>
}

/** A pool leads to its endpoint picker. */
export interface LeadingPool {
  readonly hostname: string
  readonly references: References
}

export interface FollowLookup extends TargetLookup {
  /** Grown here. */
  readonly reach: ReadonlyMap<string, GrowingReach>
}

export function followPolicies(
  leads: { readonly policies: readonly LeadingPolicy[]; readonly pools: readonly LeadingPool[] },
  lookup: FollowLookup,
  backends: ReadonlyMap<string, DeliveredBackend>,
): void {
  const leading = leads.policies.flatMap(({ policy, report }) =>
    report.references.length === 0
      ? []
      : [{ policy, references: referencesOf(report.references), done: new Set<string>() }],
  )
  const pools = leads.pools.map((pool) => ({ ...pool, done: new Set<string>() }))
  // Each round but the last follows a policy or pool at a Gateway for the first time.
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    for (const { hostname, references, done } of pools) {
      for (const [key, reach] of lookup.reach) {
        if (done.has(key) || !reach.services.has(hostname)) continue
        done.add(key)
        follow(references, reach, backends)
        hasGrown = true
      }
    }
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
