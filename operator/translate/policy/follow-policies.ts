// Targets of references in policies are reachable wherever the policies are in force, and may have policies themselves:
// follows them until nothing new is found.
import type { DeliveredBackend } from '../delivered-backend.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { follow, type GrowingReach, type Reach } from '../reach.ts'
import { referencesOf, type References } from '../references.ts'
import type { FieldReport } from './field.ts'
import type { TargetLookup } from './target.ts'
import { targetResolver } from './target-resolver.ts'

export interface LeadingPolicy {
  readonly policy: GwPolicy
  readonly report: Pick<FieldReport, 'references'>
}

/** A pool leads to its endpoint picker. */
export interface LeadingPool {
  readonly hostname: string
  readonly references: References
}

/** `lookup.reach`: targets of routes. Returns additional targets of policies and pools; does not change its input. */
export function followPolicies(
  leads: { readonly policies: readonly LeadingPolicy[]; readonly pools: readonly LeadingPool[] },
  lookup: TargetLookup,
  backends: ReadonlyMap<string, DeliveredBackend>,
): TargetLookup['reach'] {
  const leading = leads.policies.flatMap(({ policy, report }) =>
    report.references.length === 0
      ? []
      : [{ policy, references: referencesOf(report.references), done: new Set<string>() }],
  )
  if (leading.length + leads.pools.length === 0) return lookup.reach
  const pools = leads.pools.map((pool) => ({ ...pool, done: new Set<string>() }))
  const growing = new Map(lookup.reach)
  const grow = growerOf(growing, backends)
  // Each round but the last follows a policy or pool at a Gateway for the first time; the last one adds nothing, so its
  // results are valid.
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    const resolve = targetResolver({ ...lookup, reach: growing })
    for (const { hostname, references, done } of pools) {
      for (const [key, { services }] of growing) {
        if (done.has(key) || !services.has(hostname)) continue
        done.add(key)
        grow(key, references)
        hasGrown = true
      }
    }
    for (const { policy, references, done } of leading) {
      for (const key of new Set(resolve(policy).targets.flatMap(({ gateways }) => gateways))) {
        if (done.has(key) || !growing.has(key)) continue
        done.add(key)
        grow(key, references)
        hasGrown = true
      }
    }
  }
  return growing
}

/** What was reached without policies is copied before something is added to it. */
function growerOf(
  growing: Map<string, Reach>,
  backends: ReadonlyMap<string, DeliveredBackend>,
): (key: string, references: References) => void {
  const own = new Map<string, GrowingReach>()
  return (key, references) => {
    const known = own.get(key)
    const reach = known ?? {
      services: new Map(growing.get(key)?.services),
      backends: new Set(growing.get(key)?.backends),
    }
    if (known === undefined) {
      own.set(key, reach)
      growing.set(key, reach)
    }
    follow(references, reach, backends)
  }
}
