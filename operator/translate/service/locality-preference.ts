// Which endpoints of a Service are near a proxy: what the Service asks for, and what its EndpointSlices hint at.
import type { LocalityPreference } from '#api/ir/types.gen.ts'
import type { Service } from '../kube.ts'
import type { ServiceEndpoint } from './service-parts.ts'

const SAME_ZONE: LocalityPreference = { preferences: ['Region', 'Zone'], mode: 'Failover' }
const SAME_NODE: LocalityPreference = { preferences: ['Region', 'Zone', 'Subzone', 'Node'], mode: 'Failover' }
const OWN_NODE: LocalityPreference = { preferences: ['Node'], mode: 'Strict' }
/** Of Services that leave it to Kubernetes which zones an endpoint is for (`topology-mode: Auto`). */
const HINTED: LocalityPreference = { preferences: ['Zone'], mode: 'Failover' }

/** `trafficDistribution` of a Service; what else there will be asks for nothing. */
const DISTRIBUTIONS: ReadonlyMap<string | undefined, LocalityPreference> = new Map([
  ['PreferClose', SAME_ZONE],
  ['PreferSameZone', SAME_ZONE],
  ['PreferSameNode', SAME_NODE],
])

/** `endpoints`: with hints only where they count. undefined: all endpoints are alike. */
export function localityPreference(
  { spec }: Service,
  endpoints: readonly ServiceEndpoint[],
): LocalityPreference | undefined {
  if (spec?.internalTrafficPolicy === 'Local') return OWN_NODE
  const asked = DISTRIBUTIONS.get(spec?.trafficDistribution)
  if (asked !== undefined) return asked
  return endpoints.some(({ forZones }) => forZones !== undefined) ? HINTED : undefined
}

/**
 * Hints count when every ready endpoint has them: else endpoints without would get nothing, or those with them all
 * (as Kubernetes has it).
 */
export function withWholeHints(endpoints: readonly ServiceEndpoint[]): ServiceEndpoint[] {
  const ready = endpoints.filter(({ healthy }) => healthy)
  const hasZones = ready.length > 0 && ready.every(({ forZones }) => forZones !== undefined)
  const hasNodes = ready.length > 0 && ready.every(({ forNodes }) => forNodes !== undefined)
  return endpoints.map(({ forZones, forNodes, ...endpoint }) => ({
    ...endpoint,
    ...(hasZones && forZones !== undefined && { forZones }),
    ...(hasNodes && forNodes !== undefined && { forNodes }),
  }))
}
