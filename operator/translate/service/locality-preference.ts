// Which endpoints of a Service are near a proxy: the setting of the Service, and the hints of its EndpointSlices.
import type { LocalityPreference } from '#api/ir/types.gen.ts'
import type { Service } from '../kube.ts'
import type { ServiceEndpoint } from './service-parts.ts'

const SAME_ZONE: LocalityPreference = { preferences: ['Region', 'Zone'], mode: 'Failover' }
const SAME_NODE: LocalityPreference = { preferences: ['Region', 'Zone', 'Subzone', 'Node'], mode: 'Failover' }
const OWN_NODE: LocalityPreference = { preferences: ['Node'], mode: 'Strict' }
/** For Services whose endpoints Kubernetes assigns to zones (`topology-mode: Auto`). */
const HINTED: LocalityPreference = { preferences: ['Zone'], mode: 'Failover' }

/** `trafficDistribution` of a Service; unknown values have no effect. */
const DISTRIBUTIONS: ReadonlyMap<string | undefined, LocalityPreference> = new Map([
  ['PreferClose', SAME_ZONE],
  ['PreferSameZone', SAME_ZONE],
  ['PreferSameNode', SAME_NODE],
])

/** `endpoints`: with hints only if they apply. undefined: all endpoints are equal. */
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
 * Hints apply only if every ready endpoint has them: otherwise endpoints without hints would get no requests, or those
 * with hints all of them (as in Kubernetes).
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
