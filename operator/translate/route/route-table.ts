// All routes: which Gateways receive which rules, through listeners or other routes, and the status of each route.
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import { isSame } from '#api/incremental/same.ts'
import type { Route } from '#api/ir/types.gen.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import { type Caught, type Defects, MALFORMED } from '../defects.ts'
import { mapped, tally } from '../lists.ts'
import type { Memory } from '../memory.ts'
import { keyOf } from '../object-ref.ts'
import type { ReferenceScope } from '../service/reference.ts'
import { keptList, type KeptList, same, sameList } from '../same.ts'
import { capMessage, type GatewayCaps } from '../caps.ts'
import type { AnyRoute } from './accept.ts'
import { attachmentCap } from './attachment-cap.ts'
import { type Delegated, delegatedRoutes, fittingMembers, parentRouteResults, renderedMembers } from './delegation.ts'
import { translateGrpcRoute } from './grpc-route.ts'
import { translateHttpRoute } from './http-route.ts'
import { translateL4Route } from './l4-route.ts'
import { membersOf, type RouteGroup } from './route-group.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import {
  delegatingAt,
  keyOfRoute,
  type PlacedRoutes,
  type Placement,
  placementOf,
  routePlacer,
} from './placed-routes.ts'
import { attachRoute, type AttachedRoute } from './routes.ts'
import type { RouteTranslation } from './translation.ts'

export interface RouteTable extends PlacedRoutes {
  readonly routes: readonly AttachedRoute[]
}

export interface RouteScope {
  readonly parents: ParentLookup
  readonly caps: GatewayCaps
  readonly defects: Defects
}

/** `references`: lookups in the current snapshot. */
export function routeTables(
  memory: Memory,
  references: ReferenceScope,
  { parents, caps, defects }: RouteScope,
): (gateways: OurGateways) => RouteTable {
  const translations = memory.table<AnyRoute, RouteTranslation>()
  const attachments = memory.table<AnyRoute, AttachedRoute>()
  const stage = memory.stage<RouteTable>()
  const attachedRoutes = memory.list((route: AnyRoute): AttachedRoute => {
    const translation = translations(route, [], (before) =>
      same(
        before,
        defects.guarded(
          { object: route, path: 'spec', what: 'the route' },
          () => translateRoute(route, references),
          brokenRoute,
        ),
      ),
    )
    return attachments(route, [translation], (before) => keptAttached(before, attachRoute(route, translation, parents)))
  })
  const capped = attachmentCap({ objectOf: routeOf, rulesOf: rulesPerListener, caps })
  const relations = tally(relationsOf)
  const placements = mapped(placementOf)
  const place = routePlacer()
  const members = new Map<string, KeptList<Route>>()
  return (gateways) => {
    return stage([...gateways.gateways.keys()], () => {
      const attached = capped(attachedRoutes(everyRoute(references)))
      const related = relations(attached)
      const placed = placements(attached)
      const places = place(gateways, placed)
      if (!related.has('delegates')) members.clear()
      if (related.size === 0) return { routes: attached, ...places }
      const delegation = delegationOf(attached, references)
      const { cut, ...given } = withDelegated({ ...places, placed }, { delegation, members, caps })
      const routes = withParentRoutes(attached, delegation.reachedFrom(attached))
      return { routes: withCut(routes, cut, caps), ...given }
    })
  }
}

/** Another listener of a Gateway seldom changes where its routes are. */
function keptAttached(before: AttachedRoute | undefined, now: AttachedRoute): AttachedRoute {
  if (before === undefined) return now
  const isKept = before.translation === now.translation && isIdentical(before.listeners, now.listeners)
  return isKept && isSame(before.parents, now.parents) ? before : now
}

function routeOf({ route }: AttachedRoute): AnyRoute {
  return route
}

function rulesPerListener({ translation: { rules, l4Rules = [] } }: AttachedRoute): number {
  return rules.length + l4Rules.length
}

/** For few routes: then the parents report about them. */
type Relation = 'delegates' | 'names routes'

function relationsOf({ translation, namesRoutes }: AttachedRoute): readonly Relation[] {
  if (translation.groups === undefined && !namesRoutes) return NO_RELATIONS
  return [
    ...(translation.groups === undefined ? [] : (['delegates'] as const)),
    ...(namesRoutes ? (['names routes'] as const) : []),
  ]
}

const NO_RELATIONS: readonly Relation[] = []

function everyRoute({ snapshot }: ReferenceScope): readonly AnyRoute[] {
  const { HTTPRoute, GRPCRoute, TCPRoute, TLSRoute } = snapshot
  const lists: ReadonlyArray<readonly AnyRoute[]> = [HTTPRoute.all, GRPCRoute.all, TCPRoute.all, TLSRoute.all]
  const [first = [], ...others] = lists.filter(({ length }) => length > 0)
  return others.length === 0 ? first : first.concat(...others)
}

function translateRoute(route: AnyRoute, references: ReferenceScope): RouteTranslation {
  if (route.kind === 'HTTPRoute') return translateHttpRoute(route, references)
  return route.kind === 'GRPCRoute' ? translateGrpcRoute(route, references) : translateL4Route(route, references)
}

function brokenRoute({ reason, message }: Caught): RouteTranslation {
  // Gateway API has its own reason for unknown values.
  const fault = { path: 'spec', reason: reason === MALFORMED ? 'UnsupportedValue' : reason, message }
  return { rules: [], faults: [fault], unresolved: [], notProgrammed: [] }
}

/** Every route is translated before. */
const NOTHING: RouteTranslation = { rules: [], faults: [], unresolved: [], notProgrammed: [] }

interface Delegation {
  /** The references of the routes through other routes. */
  readonly reachedFrom: (routes: readonly AttachedRoute[]) => readonly Delegated[]
}

function delegationOf(attached: readonly AttachedRoute[], references: ReferenceScope): Delegation {
  if (attached.every(({ translation }) => translation.groups === undefined)) return { reachedFrom: () => [] }
  const translations = new Map(attached.map(({ route, translation }) => [keyOfRoute(route), translation]))
  const translationOf = (route: HTTPRoute): RouteTranslation => translations.get(keyOfRoute(route)) ?? NOTHING
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

interface PlacedAll extends PlacedRoutes {
  readonly placed: readonly Placement[]
}

interface DelegationScope {
  readonly delegation: Delegation
  /** Delegated routes of the last translation, by Gateway. */
  readonly members: Map<string, KeptList<Route>>
  readonly caps: GatewayCaps
}

interface WithDelegated extends PlacedRoutes {
  /** By the key of a parent, a Gateway without room for all of its children. */
  readonly cut: ReadonlyMap<string, string>
}

function withDelegated(
  { perGateway, gatewaysOf, placed }: PlacedAll,
  { delegation, members, caps }: DelegationScope,
): WithDelegated {
  const cut = new Map<string, string>()
  const withMembers = new Map(perGateway)
  const takenBy = new Map(gatewaysOf)
  for (const key of members.keys()) if (!perGateway.has(key)) members.delete(key)
  for (const [key, { routes, tcpRoutes }] of perGateway) {
    const reached = delegation.reachedFrom(delegatingAt(placed, key))
    const { members: delegated, cut: parents } = fittingMembers(reached, caps.routeRulesMax)
    for (const parent of parents) cut.set(parent, key)
    const kept = sameList(members.get(key) ?? keptList([], routeKey), delegated.flatMap(renderedMembers), routeKey)
    members.set(key, kept)
    if (kept.list.length > 0) withMembers.set(key, { routes: [...routes, ...kept.list], tcpRoutes })
    for (const { route } of delegated) {
      const child = keyOfRoute(route)
      takenBy.set(child, new Set([...(takenBy.get(child) ?? []), key]))
    }
  }
  return { perGateway: withMembers, gatewaysOf: takenBy, cut }
}

/** Adds the problems of parents whose children do not all fit. */
function withCut(
  attached: readonly AttachedRoute[],
  cut: ReadonlyMap<string, string>,
  caps: GatewayCaps,
): readonly AttachedRoute[] {
  if (cut.size === 0) return attached
  return attached.map((one) => {
    const gateway = one.route.kind === 'HTTPRoute' ? cut.get(keyOf(one.route)) : undefined
    if (gateway === undefined) return one
    const message = `some routes that this route delegates to are ignored: ${capMessage('routeRulesMax', caps, gateway)}`
    const fault = { path: 'spec.rules', reason: 'TooManyRoutes', message }
    return { ...one, translation: { ...one.translation, unresolved: [...one.translation.unresolved, fault] } }
  })
}

function routeKey({ key }: Route): string {
  return key
}

/** Adds the statuses for parents that are routes themselves. */
function withParentRoutes(
  attached: readonly AttachedRoute[],
  delegated: readonly Delegated[],
): readonly AttachedRoute[] {
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
