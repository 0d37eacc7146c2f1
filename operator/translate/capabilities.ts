// What the proxy of this version supports. Statuses claim nothing beyond this list; extend it with the proxy.
import { GATEWAY_GROUP, GW_GROUP } from './groups.ts'
import type { RouteGroupKind } from './object-status.ts'

export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'HBONE'

/** Ports of the proxy itself: admin, metrics, readiness. */
export const RESERVED_PORTS: ReadonlySet<number> = new Set([15_000, 15_020, 15_021])

/** The route kinds of each protocol. */
export const ROUTE_KINDS: { readonly [P in ListenerProtocol]: readonly RouteGroupKind[] } = {
  HTTP: [gatewayKind('HTTPRoute'), gatewayKind('GRPCRoute')],
  HTTPS: [gatewayKind('HTTPRoute'), gatewayKind('GRPCRoute')],
  TLS: [gatewayKind('TLSRoute')],
  TCP: [gatewayKind('TCPRoute')],
  // Connections through its tunnels belong to the listener of their port.
  HBONE: [],
}

/** Listeners accept it only if allowedRoutes.kinds lists it. */
export const LISTED_KINDS: { readonly [P in ListenerProtocol]?: readonly RouteGroupKind[] } = {
  HTTP: [{ group: GW_GROUP, kind: 'GwModel' }],
  HTTPS: [{ group: GW_GROUP, kind: 'GwModel' }],
}

/** Names of the Gateway API features that this version supports, sorted. */
export const SUPPORTED_FEATURES: readonly string[] = [
  'BackendTLSPolicy',
  'BackendTLSPolicySANValidation',
  'GRPCRoute',
  'GRPCRouteNamedRouteRule',
  'Gateway',
  'GatewayAddressEmpty',
  'GatewayBackendClientCertificate',
  'GatewayFrontendClientCertificateValidation',
  'GatewayFrontendClientCertificateValidationInsecureFallback',
  'GatewayHTTPListenerIsolation',
  'GatewayHTTPSListenerDetectMisdirectedRequests',
  'GatewayInfrastructure',
  'GatewayPort8080',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRoute303RedirectStatusCode',
  'HTTPRoute307RedirectStatusCode',
  'HTTPRoute308RedirectStatusCode',
  'HTTPRouteBackendProtocolH2C',
  'HTTPRouteBackendProtocolWebSocket',
  'HTTPRouteBackendRequestHeaderModification',
  'HTTPRouteBackendTimeout',
  'HTTPRouteCORS',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestMirror',
  'HTTPRouteRequestMultipleMirrors',
  'HTTPRouteRequestPercentageMirror',
  'HTTPRouteRequestTimeout',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteRetry',
  'HTTPRouteRetryBackendTimeout',
  'HTTPRouteRetryConnectionError',
  'HTTPRouteSchemeRedirect',
  'ListenerSet',
  'ReferenceGrant',
  'TCPRoute',
  'TLSRoute',
  'TLSRouteModeMixed',
  'TLSRouteModeTerminate',
]

export function isListenerProtocol(protocol: string): protocol is ListenerProtocol {
  return Object.hasOwn(ROUTE_KINDS, protocol)
}

function gatewayKind(kind: string): RouteGroupKind {
  return { group: GATEWAY_GROUP, kind }
}
