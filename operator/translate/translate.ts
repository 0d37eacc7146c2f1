// The control plane's pure middle: a snapshot of the cluster in, rendered configurations and statuses out. Knows no
// clock, network, environment or randomness, and never throws for what a user wrote.
import type { Route, TCPRoute } from '#api/ir/types.gen.ts'
import { type BackendTranslation, translateBackend, unusable } from './backend/backend.ts'
import { gatewayAddresses } from './gateway/addresses.ts'
import { type OurGateways, ourGateways } from './gateway/gateways.ts'
import type { Listener } from './gateway/listener.ts'
import { grantChecker } from './grants.ts'
import { collectProblems } from './problems.ts'
import { collectStatuses } from './statuses.ts'
import { keyOf } from './object-ref.ts'
import { translateBackendTlsPolicies } from './policy/backend-tls-policy.ts'
import type { Claims } from './policy/claims.ts'
import { followPolicies } from './policy/follow-policies.ts'
import { attachPolicies, translateFields } from './policy/policies.ts'
import { policyScope, type PolicyScope } from './policy/scope.ts'
import { type GrowingReach, type Reach, reachOf } from './reach.ts'
import type { ReferenceScope } from './reference.ts'
import { isProgrammed, renderGateway } from './render-gateway.ts'
import type { AnyRoute } from './route/accept.ts'
import { translateGrpcRoute } from './route/grpc-route.ts'
import { type RouteTranslation, translateHttpRoute } from './route/http-route.ts'
import { renderedL4Rules, translateL4Route } from './route/l4-route.ts'
import { attachRoute, type AttachedRoute, renderedRules } from './route/routes.ts'
import { servicesOf } from './service/services.ts'
import type { Snapshot } from './snapshot.ts'
import type { RenderedGateway, TranslateSettings, Translation } from './translation.ts'

export function translate(snapshot: Snapshot, settings: TranslateSettings): Translation {
  const isPermitted = grantChecker(snapshot.ReferenceGrant.all)
  const services = servicesOf(snapshot, settings.clusterDomain)
  const references: ReferenceScope = { snapshot, services, isPermitted }
  const gateways = ourGateways({ snapshot, isPermitted }, settings.controllerName)
  const routes = attachRoutes(gateways, references)
  const scope = policyScope(references, settings)
  const backends = translateBackends(references, scope)
  const rendered = routesByGateway(gateways, routes)
  const reach = new Map<string, GrowingReach>()
  for (const [key, list] of rendered) reach.set(key, reachOf([...list.routes, ...list.tcpRoutes], backends))
  const lookup = {
    snapshot,
    gateways,
    reach,
    routeGateways: gatewaysOfRoutes(routes),
    serviceHostname: services.hostname,
  }
  const fields = translateFields(scope)
  followPolicies(fields, lookup, backends)
  const claims: Claims = new Map()
  const policies = attachPolicies(fields, lookup, claims)
  // After GwPolicy: where both set TLS of one target, our own API wins.
  const backendTls = translateBackendTlsPolicies(lookup, claims)
  const perGateway = new Map<string, RenderedGateway>()
  for (const [key, ours] of gateways.gateways) {
    const parts = {
      ours,
      backends,
      policies: [...policies, ...backendTls],
      services,
      reach: reach.get(key),
      ...(rendered.get(key) ?? { routes: [], tcpRoutes: [] }),
    }
    perGateway.set(key, renderGateway({ ...parts, reach: parts.reach ?? NOTHING_REACHED }))
  }
  const results = {
    snapshot,
    settings,
    gateways,
    routes,
    backends,
    policies,
    backendTls,
    addressesOf: gatewayAddresses(snapshot.Service.all),
  }
  return { perGateway, statuses: collectStatuses(results), problems: collectProblems(results) }
}

const NOTHING_REACHED: Reach = { services: new Map(), backends: new Set() }

function attachRoutes(gateways: OurGateways, references: ReferenceScope): AttachedRoute[] {
  const { snapshot } = references
  return [
    ...snapshot.HTTPRoute.all.map((route) =>
      attachRoute(
        route,
        guarded(() => translateHttpRoute(route, references), brokenRoute),
        gateways,
      ),
    ),
    ...snapshot.GRPCRoute.all.map((route) =>
      attachRoute(
        route,
        guarded(() => translateGrpcRoute(route, references), brokenRoute),
        gateways,
      ),
    ),
    ...[...snapshot.TCPRoute.all, ...snapshot.TLSRoute.all].map((route) =>
      attachRoute(
        route,
        guarded(() => translateL4Route(route, references), brokenRoute),
        gateways,
      ),
    ),
  ]
}

const NO_RULES: RouteTranslation = { rules: [], faults: [], unresolved: [], notProgrammed: [] }

function brokenRoute(): RouteTranslation {
  return { ...NO_RULES, faults: [{ path: 'spec', reason: 'UnsupportedValue', message: `the route ${WRONG_FORM}` }] }
}

const WRONG_FORM = 'does not have the form that the CRD of this version asks for'

function translateBackends(references: ReferenceScope, scope: PolicyScope): Map<string, BackendTranslation> {
  const byKey = new Map<string, BackendTranslation>()
  for (const backend of references.snapshot.GwBackend.all) {
    const translation = guarded(
      () => translateBackend(backend, references, scope),
      () =>
        unusable(backend, [
          { path: 'spec', reason: 'Malformed', message: `the backend ${WRONG_FORM}`, severity: 'error' },
        ]),
    )
    byKey.set(keyOf(backend), translation)
  }
  return byKey
}

/** Objects that the schema would have refused (an older CRD, a hand-made manifest) break themselves only. */
function guarded<T>(translateOne: () => T, broken: () => T): T {
  try {
    return translateOne()
  } catch {
    return broken()
  }
}

interface RoutesOfGateway {
  readonly routes: Route[]
  readonly tcpRoutes: TCPRoute[]
}

function routesByGateway(gateways: OurGateways, routes: readonly AttachedRoute[]): Map<string, RoutesOfGateway> {
  const byGateway = new Map<string, RoutesOfGateway>()
  const keyOfListener = new Map<Listener, string>()
  for (const [key, { listeners }] of gateways.gateways) {
    byGateway.set(key, { routes: [], tcpRoutes: [] })
    for (const listener of listeners) keyOfListener.set(listener, key)
  }
  for (const { route, translation, listeners } of routes) {
    for (const listener of listeners) {
      const lists = byGateway.get(keyOfListener.get(listener) ?? '')
      if (lists === undefined || !isProgrammed(listener)) continue
      if (route.kind === 'TCPRoute' || route.kind === 'TLSRoute') {
        lists.tcpRoutes.push(...renderedL4Rules(route, translation.l4Rules ?? [], listener))
      } else lists.routes.push(...renderedRules(route, translation.rules, listener))
    }
  }
  return byGateway
}

function gatewaysOfRoutes(routes: readonly AttachedRoute[]): Map<string, string[]> {
  const byRoute = new Map<string, string[]>()
  for (const { route, listeners } of routes) {
    const keys = new Set(listeners.map(({ gateway }) => keyOf(gateway)))
    byRoute.set(routeKey(route), [...keys])
  }
  return byRoute
}

function routeKey(route: AnyRoute): string {
  return `${route.kind}/${keyOf(route)}`
}
