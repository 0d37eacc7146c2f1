// All routes: which Gateways receive which rules, through listeners or other routes, and what each route is told.
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import type { Route, TCPRoute } from '#api/ir/types.gen.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import type { Listener } from '../gateway/listener.ts'
import { guarded, WRONG_FORM } from '../guarded.ts'
import { keyOf } from '../object-ref.ts'
import type { ReferenceScope } from '../reference.ts'
import type { AnyRoute } from './accept.ts'
import { type Delegated, delegatedRoutes, parentRouteResults, renderedMembers } from './delegation.ts'
import { translateGrpcRoute } from './grpc-route.ts'
import { type RouteTranslation, translateHttpRoute } from './http-route.ts'
import { renderedL4Rules, translateL4Route } from './l4-route.ts'
import { membersOf, parentRoutesOf, type RouteGroup } from './route-group.ts'
import { attachRoute, type AttachedRoute, renderedRules } from './routes.ts'

export interface RoutesOfGateway {
  readonly routes: Route[]
  readonly tcpRoutes: TCPRoute[]
}

export interface RouteTable {
  readonly routes: readonly AttachedRoute[]
  /** By Gateway key. */
  readonly perGateway: ReadonlyMap<string, RoutesOfGateway>
  /** Keys of the Gateways that took the route; the key is `Kind/namespace/name`. */
  readonly gatewaysOf: ReadonlyMap<string, readonly string[]>
}

export function routeTable(gateways: OurGateways, references: ReferenceScope): RouteTable {
  const attached = attachRoutes(gateways, references)
  const delegation = delegationOf(attached, references)
  const { perGateway, gatewaysOf } = placeRoutes(gateways, attached, delegation)
  return { routes: withParentRoutes(attached, delegation.reachedFrom(attached)), perGateway, gatewaysOf }
}

function attachRoutes(gateways: OurGateways, references: ReferenceScope): AttachedRoute[] {
  const { snapshot } = references
  const attach = (route: AnyRoute, translate: () => RouteTranslation): AttachedRoute =>
    attachRoute(route, guarded(translate, brokenRoute), gateways)
  return [
    ...snapshot.HTTPRoute.all.map((route) => attach(route, () => translateHttpRoute(route, references))),
    ...snapshot.GRPCRoute.all.map((route) => attach(route, () => translateGrpcRoute(route, references))),
    ...[...snapshot.TCPRoute.all, ...snapshot.TLSRoute.all].map((route) =>
      attach(route, () => translateL4Route(route, references)),
    ),
  ]
}

function brokenRoute(): RouteTranslation {
  const fault = { path: 'spec', reason: 'UnsupportedValue', message: `the route ${WRONG_FORM}` }
  return { rules: [], faults: [fault], unresolved: [], notProgrammed: [] }
}

interface Delegation {
  /** What the routes lead to through other routes. */
  readonly reachedFrom: (routes: readonly AttachedRoute[]) => readonly Delegated[]
}

function delegationOf(attached: readonly AttachedRoute[], references: ReferenceScope): Delegation {
  const translations = new Map(attached.map(({ route, translation }) => [keyOfRoute(route), translation]))
  const translationOf = (route: HTTPRoute): RouteTranslation => translations.get(keyOfRoute(route)) ?? brokenRoute()
  const members = new Map<string, readonly HTTPRoute[]>()
  const known = (group: RouteGroup): readonly HTTPRoute[] => {
    const routes = members.get(group.key) ?? membersOf(group, references).routes
    members.set(group.key, routes)
    return routes
  }
  return { reachedFrom: (routes) => delegatedRoutes({ attached: routes, translationOf, membersOf: known }) }
}

function placeRoutes(
  gateways: OurGateways,
  attached: readonly AttachedRoute[],
  delegation: Delegation,
): Pick<RouteTable, 'perGateway' | 'gatewaysOf'> {
  const perGateway = new Map<string, RoutesOfGateway & { readonly parents: AttachedRoute[] }>()
  for (const key of gateways.gateways.keys()) perGateway.set(key, { routes: [], tcpRoutes: [], parents: [] })
  const gatewaysOf = new Map<string, Set<string>>()
  for (const one of attached) {
    const keys = new Set<string>()
    for (const listener of one.listeners) {
      const key = keyOf(listener.gateway)
      keys.add(key)
      const at = perGateway.get(key)
      if (at === undefined || listener.notProgrammed !== undefined) continue
      addRendered(at, one, listener)
      if (one.translation.groups !== undefined) at.parents.push(one)
    }
    gatewaysOf.set(keyOfRoute(one.route), keys)
  }
  for (const [key, { routes, parents }] of perGateway) {
    for (const delegated of delegation.reachedFrom(parents)) {
      routes.push(...renderedMembers(delegated))
      gatewaysOf.get(keyOfRoute(delegated.route))?.add(key)
    }
  }
  return { perGateway, gatewaysOf: new Map([...gatewaysOf].map(([key, keys]) => [key, [...keys]])) }
}

function addRendered(at: RoutesOfGateway, { route, translation }: AttachedRoute, listener: Listener): void {
  if (route.kind === 'TCPRoute' || route.kind === 'TLSRoute') {
    at.tcpRoutes.push(...renderedL4Rules(route, translation.l4Rules ?? [], listener))
  } else at.routes.push(...renderedRules(route, translation.rules, listener))
}

/** Adds the word about parents that are routes themselves. */
function withParentRoutes(attached: readonly AttachedRoute[], delegated: readonly Delegated[]): AttachedRoute[] {
  const children = new Map<string, Set<HTTPRoute>>()
  const ours = new Set<string>()
  for (const { group, route } of delegated) {
    const known = children.get(group.parent)
    if (known === undefined) children.set(group.parent, new Set([route]))
    else known.add(route)
    ours.add(keyOf(route))
  }
  for (const { route, listeners } of attached) {
    if (route.kind === 'HTTPRoute' && listeners.length > 0) ours.add(keyOf(route))
  }
  const isOurs = (key: string): boolean => ours.has(key)
  return attached.map((one) => {
    const { route, parents } = one
    if (route.kind !== 'HTTPRoute' || parentRoutesOf(route).length === 0) return one
    return { ...one, parents: [...parents, ...parentRouteResults(route, { children, isOurs })] }
  })
}

function keyOfRoute(route: AnyRoute): string {
  return `${route.kind}/${keyOf(route)}`
}
