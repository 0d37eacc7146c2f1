// What the proxy of this version runs. Statuses promise nothing beyond this list; extend it with the proxy.
import { GATEWAY_GROUP } from './groups.ts'
import type { RouteGroupKind } from '../status/object-status.ts'

export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP'

/** Listeners of other protocols are checked and accepted, but their port stays closed and the status says so. */
export const SERVED_PROTOCOLS: ReadonlySet<ListenerProtocol> = new Set<ListenerProtocol>(['HTTP'])

/** Ports of the proxy itself: admin, metrics, readiness. */
export const RESERVED_PORTS: ReadonlySet<number> = new Set([15_000, 15_020, 15_021])

/** The route kinds of each protocol. GRPCRoute joins HTTP and HTTPS when the proxy speaks HTTP/2. */
export const ROUTE_KINDS: { readonly [P in ListenerProtocol]: readonly RouteGroupKind[] } = {
  HTTP: [gatewayKind('HTTPRoute')],
  HTTPS: [gatewayKind('HTTPRoute')],
  TLS: [gatewayKind('TLSRoute')],
  TCP: [gatewayKind('TCPRoute')],
}

/** Gateway API feature names that hold for this version, sorted. */
export const SUPPORTED_FEATURES: readonly string[] = [
  'Gateway',
  'HTTPRoute',
  'HTTPRouteBackendRequestHeaderModification',
  'HTTPRouteBackendTimeout',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestTimeout',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteSchemeRedirect',
  'ListenerSet',
  'ReferenceGrant',
]

export function isListenerProtocol(protocol: string): protocol is ListenerProtocol {
  return Object.hasOwn(ROUTE_KINDS, protocol)
}

function gatewayKind(kind: string): RouteGroupKind {
  return { group: GATEWAY_GROUP, kind }
}
