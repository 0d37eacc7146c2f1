// All policies of a cluster, with what they lead to, in the order in which one kind takes precedence over another:
// GwPolicy, then BackendTLSPolicy, then the settings of InferencePools.
import { isIdentical } from '#api/incremental/identical.ts'
import type { GatewayCaps } from '../caps.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { poolAttacher, type PoolAtGateways, poolTranslator } from '../inference/pools.ts'
import { flatMapped, joined } from '../lists.ts'
import type { Memory } from '../memory.ts'
import { policyAttacher, type PolicyTranslation } from '../policy/attached-policies.ts'
import { backendTlsAttacher, backendTlsClaimants, type BackendTlsTranslation } from '../policy/backend-tls-policy.ts'
import { policyClaimants } from '../policy/claiming-policies.ts'
import { type Claimant, claimTable } from '../policy/claims.ts'
import { policyFollower } from '../policy/follow-policies.ts'
import { policyFields, type PolicyFields } from '../policy/policies.ts'
import { joinedReach } from '../joined-reach.ts'
import type { Reach } from '../reach.ts'
import { trackedReach } from '../reach-index.ts'
import { type LeadingRoutes, reachTracker } from '../route-reach.ts'
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
  const [accepting, claims] = [routeGateways(memory), claimTable(memory)]
  /** What routes reach, and what policies lead to as well. */
  const [direct, reached] = [trackedReach(memory), trackedReach(memory)]
  const targets = { snapshot, parents, routeGateways: accepting, serviceHostname: services.hostname, pools }
  const lookup = { ...targets, reached }
  const fieldsOf = policyFields(memory, scope)
  const translatedPools = poolTranslator(memory, references)
  const [reachOfRoutes, followed, join] = [
    reachTracker(),
    policyFollower(memory, { lookup: targets, direct }),
    joinedReach(),
  ]
  const gatewaysOf = keptKeys()
  const leadsOf = flatMapped(({ leads }: PolicyFields) => leads)
  const claiming = policyClaimants(memory, lookup, caps)
  const claimingTls = backendTlsClaimants(memory, lookup, defects)
  const both = joined<Claimant>()
  const attached = policyAttacher(memory, claims, caps)
  const attachedTls = backendTlsAttacher(memory, { claims, parents })
  const attachedPools = poolAttacher(memory, { reached, claims })
  return ({ accepted, routes, backends }) => {
    accepting.enter(accepted)
    const ofRoutes = reachOfRoutes(routes, backends)
    direct.enter(ofRoutes)
    const fields = fieldsOf(snapshot.GwPolicy.all)
    const leads = { policies: leadsOf(fields), pools: translatedPools() }
    const reach = join(ofRoutes, followed(leads, gatewaysOf(ofRoutes), backends))
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

/** The same list while the keys are the same, in the same order. */
function keptKeys(): (map: ReadonlyMap<string, unknown>) => readonly string[] {
  let last: readonly string[] = []
  return (map) => {
    const keys = [...map.keys()]
    return (last = isIdentical(last, keys) ? last : keys)
  }
}
