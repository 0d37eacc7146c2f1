// All routes: which Gateways receive which rules, through listeners or other routes, and what each route is told.
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import type { Route, TCPRoute } from '#api/ir/types.gen.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import type { Listener } from '../gateway/listener.ts'
import { guarded, WRONG_FORM } from '../guarded.ts'
import type { Memory } from '../memory.ts'
import { keyOf } from '../object-ref.ts'
import type { ReferenceScope } from '../reference.ts'
import { keptList, type KeptList, sameList } from '../same.ts'
import type { AnyRoute } from './accept.ts'
import { type Delegated, delegatedRoutes, parentRouteResults, renderedMembers } from './delegation.ts'
import { translateGrpcRoute } from './grpc-route.ts'
import { type RouteTranslation, translateHttpRoute } from './http-route.ts'
import { renderedL4Rules, translateL4Route } from './l4-route.ts'
import { membersOf, type RouteGroup } from './route-group.ts'
import { parentLookup } from './parent-lookup.ts'
import { attachRoute, type AttachedRoute, renderedRules } from './routes.ts'

export interface RoutesOfGateway {
  readonly routes: readonly Route[]
  readonly tcpRoutes: readonly TCPRoute[]
}

/** While they are put together. */
interface GrowingRoutes extends RoutesOfGateway {
  readonly routes: Route[]
  readonly tcpRoutes: TCPRoute[]
}

export interface RouteTable {
  readonly routes: readonly AttachedRoute[]
  /** By Gateway key. */
  readonly perGateway: ReadonlyMap<string, RoutesOfGateway>
  /** Keys of the Gateways that took the route; the key is `Kind/namespace/name`. */
  readonly gatewaysOf: ReadonlyMap<string, ReadonlySet<string>>
}

/** The rules of a route at each Gateway. */
interface Placement {
  /** `Kind/namespace/name` */
  readonly key: string
  readonly gateways: ReadonlySet<string>
  readonly at: readonly PlacedRules[]
}

interface PlacedRules extends GrowingRoutes {
  readonly gateway: string
  /** Some listener there is programmed. */
  readonly isServed: boolean
}

/** `references`: lookups that are answered by the snapshot of the moment. */
export function routeTables(memory: Memory, references: ReferenceScope): (gateways: OurGateways) => RouteTable {
  const ours = parentLookup(memory)
  const translations = memory.table<AnyRoute, RouteTranslation>()
  const attachments = memory.table<AnyRoute, AttachedRoute>()
  const placements = memory.table<AttachedRoute, Placement>()
  const members = new Map<string, KeptList<Route>>()
  const stage = memory.stage<RouteTable>()
  const attach = (route: AnyRoute): AttachedRoute => {
    const translation = translations(route, [], () => guarded(() => translateRoute(route, references), brokenRoute))
    return attachments(route, [translation], () => attachRoute(route, translation, ours))
  }
  return (gateways) => {
    ours.enter(gateways)
    return stage([...gateways.gateways.keys()], () => {
      const attached = everyRoute(references).map(attach)
      const delegation = delegationOf(attached, references)
      const placed = attached.map((one) => placements(one, [], () => placementOf(one)))
      const { perGateway, gatewaysOf } = placeRoutes(gateways, { attached, placed }, delegation, members)
      return { routes: withParentRoutes(attached, delegation.reachedFrom(attached)), perGateway, gatewaysOf }
    })
  }
}

function everyRoute({ snapshot }: ReferenceScope): AnyRoute[] {
  const { HTTPRoute, GRPCRoute, TCPRoute, TLSRoute } = snapshot
  return [...HTTPRoute.all, ...GRPCRoute.all, ...TCPRoute.all, ...TLSRoute.all]
}

function translateRoute(route: AnyRoute, references: ReferenceScope): RouteTranslation {
  if (route.kind === 'HTTPRoute') return translateHttpRoute(route, references)
  return route.kind === 'GRPCRoute' ? translateGrpcRoute(route, references) : translateL4Route(route, references)
}

function brokenRoute(): RouteTranslation {
  const fault = { path: 'spec', reason: 'UnsupportedValue', message: `the route ${WRONG_FORM}` }
  return { rules: [], faults: [fault], unresolved: [], notProgrammed: [] }
}

function placementOf(attached: AttachedRoute): Placement {
  const byGateway = Map.groupBy(attached.listeners, ({ gateway }) => keyOf(gateway))
  const at = [...byGateway].map(([gateway, listeners]) => {
    const served = listeners.filter(({ notProgrammed }) => notProgrammed === undefined)
    const placed: PlacedRules = { gateway, isServed: served.length > 0, routes: [], tcpRoutes: [] }
    for (const listener of served) addRendered(placed, attached, listener)
    return placed
  })
  return { key: keyOfRoute(attached.route), gateways: new Set(byGateway.keys()), at }
}

function addRendered(at: GrowingRoutes, { route, translation }: AttachedRoute, listener: Listener): void {
  if (route.kind === 'TCPRoute' || route.kind === 'TLSRoute') {
    at.tcpRoutes.push(...renderedL4Rules(route, translation.l4Rules ?? [], listener))
  } else at.routes.push(...renderedRules(route, translation.rules, listener))
}

interface Delegation {
  /** What the routes lead to through other routes. */
  readonly reachedFrom: (routes: readonly AttachedRoute[]) => readonly Delegated[]
}

function delegationOf(attached: readonly AttachedRoute[], references: ReferenceScope): Delegation {
  if (attached.every(({ translation }) => translation.groups === undefined)) return { reachedFrom: () => [] }
  const translations = new Map(attached.map(({ route, translation }) => [keyOfRoute(route), translation]))
  const translationOf = (route: HTTPRoute): RouteTranslation => translations.get(keyOfRoute(route)) ?? brokenRoute()
  const members = new Map<string, readonly HTTPRoute[]>()
  const known = (group: RouteGroup): readonly HTTPRoute[] => {
    const routes = members.get(group.key) ?? membersOf(group, references).routes
    members.set(group.key, routes)
    return routes
  }
  return {
    reachedFrom: (routes) =>
      delegatedRoutes({
        attached: routes.filter(({ listeners }) => listeners.length > 0),
        translationOf,
        membersOf: known,
      }),
  }
}

interface PlacedRoutes {
  readonly attached: readonly AttachedRoute[]
  /** Of the attached route at the same place. */
  readonly placed: readonly Placement[]
}

/** `members`: delegated routes of last time, by Gateway. */
function placeRoutes(
  gateways: OurGateways,
  { attached, placed }: PlacedRoutes,
  delegation: Delegation,
  members: Map<string, KeptList<Route>>,
): Pick<RouteTable, 'perGateway' | 'gatewaysOf'> {
  const { perGateway, parentsAt, gatewaysOf } = placeAttached(gateways, { attached, placed })
  for (const key of members.keys()) if (!perGateway.has(key)) members.delete(key)
  for (const [key, { routes }] of perGateway) {
    const delegated = delegation.reachedFrom(parentsAt.get(key) ?? [])
    const kept = sameList(members.get(key) ?? keptList([], routeKey), delegated.flatMap(renderedMembers), routeKey)
    members.set(key, kept)
    routes.push(...kept.list)
    for (const { route } of delegated) {
      const child = keyOfRoute(route)
      gatewaysOf.set(child, new Set([...(gatewaysOf.get(child) ?? []), key]))
    }
  }
  return { perGateway, gatewaysOf }
}

interface AttachedPlaces {
  readonly perGateway: Map<string, GrowingRoutes>
  /** Served routes that hand requests to others. */
  readonly parentsAt: Map<string, AttachedRoute[]>
  readonly gatewaysOf: Map<string, ReadonlySet<string>>
}

function placeAttached({ gateways }: OurGateways, { attached, placed }: PlacedRoutes): AttachedPlaces {
  const perGateway = new Map<string, GrowingRoutes>()
  const parentsAt = new Map<string, AttachedRoute[]>()
  const gatewaysOf = new Map<string, ReadonlySet<string>>()
  for (const key of gateways.keys()) {
    perGateway.set(key, { routes: [], tcpRoutes: [] })
    parentsAt.set(key, [])
  }
  for (const [index, one] of attached.entries()) {
    const placement = placed[index]
    if (placement === undefined) continue
    gatewaysOf.set(placement.key, placement.gateways)
    for (const { gateway, isServed, routes, tcpRoutes } of placement.at) {
      const lists = perGateway.get(gateway)
      lists?.routes.push(...routes)
      lists?.tcpRoutes.push(...tcpRoutes)
      if (isServed && one.translation.groups !== undefined) parentsAt.get(gateway)?.push(one)
    }
  }
  return { perGateway, parentsAt, gatewaysOf }
}

function routeKey({ key }: Route): string {
  return key
}

/** Adds the word about parents that are routes themselves. */
function withParentRoutes(
  attached: readonly AttachedRoute[],
  delegated: readonly Delegated[],
): readonly AttachedRoute[] {
  if (!attached.some(({ namesRoutes }) => namesRoutes)) return attached
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
    if (route.kind !== 'HTTPRoute' || !one.namesRoutes) return one
    return { ...one, parents: [...parents, ...parentRouteResults(route, { children, isOurs })] }
  })
}

function keyOfRoute(route: AnyRoute): string {
  return `${route.kind}/${keyOf(route)}`
}
