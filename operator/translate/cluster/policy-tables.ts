// All policies of a cluster, with what they lead to, in the order in which one kind takes precedence over another:
// GwPolicy, then BackendTLSPolicy, then the settings of InferencePools.
import type { GatewayCaps } from '../caps.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { poolAttacher, type PoolAtGateways, poolTranslator } from '../inference/pools.ts'
import { flatMapped, joined } from '../lists.ts'
import type { Memory } from '../memory.ts'
import { policyAttacher, type PolicyTranslation } from '../policy/attached-policies.ts'
import { backendTlsAttacher, backendTlsClaimants, type BackendTlsTranslation } from '../policy/backend-tls-policy.ts'
import { policyClaimants } from '../policy/claiming-policies.ts'
import { type Claimant, claimTable } from '../policy/claims.ts'
import { followPolicies, keptReach } from '../policy/follow-policies.ts'
import { policyFields, type PolicyFields } from '../policy/policies.ts'
import { type LeadingRoutes, type Reach, reachTracker } from '../reach.ts'
import { ReachIndex, trackedReach } from '../reach-index.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import { type AcceptedRoutes, routeGateways } from '../route/route-gateways.ts'
import type { ClusterLookups } from './cluster-lookups.ts'

export interface PolicyTable {
  /** What each Gateway reaches, through policies as well. */
  readonly reach: ReadonlyMap<string, Reach>
  /** Keys of the Gateways that reach the Service with this host name. */
  readonly reaching: (hostname: string) => readonly string[]
  readonly policies: readonly PolicyTranslation[]
  readonly backendTls: readonly BackendTlsTranslation[]
  readonly pools: readonly PoolAtGateways[]
}

export interface PolicyInputs {
  readonly accepted: AcceptedRoutes
  /** By Gateway. */
  readonly routes: ReadonlyMap<string, LeadingRoutes>
  /** The same map while all backends are the same. */
  readonly backends: ReadonlyMap<string, DeliveredBackend>
}

export function policyTables(
  memory: Memory,
  { references, scope, defects }: ClusterLookups,
  { parents, caps }: { readonly parents: ParentLookup; readonly caps: GatewayCaps },
): (inputs: PolicyInputs) => PolicyTable {
  const { snapshot, services, pools } = references
  const [accepting, reached, claims] = [routeGateways(memory), trackedReach(memory), claimTable(memory)]
  const targets = { snapshot, parents, routeGateways: accepting, serviceHostname: services.hostname, pools }
  const lookup = { ...targets, reached }
  const fieldsOf = policyFields(memory, scope)
  const translatedPools = poolTranslator(memory, references)
  const [reachOfRoutes, index] = [reachTracker(), new ReachIndex()]
  const leadsOf = flatMapped(({ leads }: PolicyFields) => leads)
  const followed = memory.table<object, ReadonlyMap<string, Reach>>()
  const claiming = policyClaimants(memory, lookup, caps)
  const claimingTls = backendTlsClaimants(memory, lookup, defects)
  const both = joined<Claimant>()
  const attached = policyAttacher(memory, claims, caps)
  const attachedTls = backendTlsAttacher(memory, { claims, parents })
  const attachedPools = poolAttacher(memory, { reached, claims })
  return ({ accepted, routes, backends }) => {
    accepting.enter(accepted)
    const direct = reachOfRoutes(routes, backends)
    index.enter(direct)
    const fields = fieldsOf(snapshot.GwPolicy.all)
    const leads = { policies: leadsOf(fields), pools: translatedPools() }
    const reach = followed(followed, [direct, backends, leads.policies, leads.pools], (before) =>
      keptReach(before, followPolicies(leads, { lookup: targets, reach: direct, index, backends })),
    )
    reached.enter(reach)
    const [policies, backendTls] = [claiming(fields), claimingTls(snapshot.BackendTLSPolicy.all)]
    // Where both set TLS of one target, our own API takes precedence.
    claims.enter(both(policies, backendTls))
    return {
      reach,
      reaching: (hostname) => reached.service(hostname),
      policies: attached(policies),
      backendTls: attachedTls(backendTls),
      // TLS settings that users make for a picker take precedence over those of pools.
      pools: attachedPools(leads.pools),
    }
  }
}
