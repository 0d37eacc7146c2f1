// The rules of all routes on the listeners that accepted them, by Gateway: updated with changed routes.
import type { Route, TCPRoute } from '#api/ir/types.gen.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { changesBetween } from '../changes.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import { lastPartBefore, type PartsEdit, withParts } from '../lists.ts'
import { keyOf } from '../object-ref.ts'
import { fitted } from '../same.ts'
import type { AnyRoute } from './accept.ts'
import { renderedL4Rules } from './l4-route.ts'
import { type AttachedRoute, renderedRules } from './routes.ts'

export interface RoutesOfGateway {
  readonly routes: readonly Route[]
  readonly tcpRoutes: readonly TCPRoute[]
}

/** A route with its rules at each Gateway. */
export interface Placement {
  readonly attached: AttachedRoute
  /** `Kind/namespace/name` */
  readonly key: string
  readonly gateways: ReadonlySet<string>
  readonly at: readonly PlacedRules[]
}

interface PlacedRules extends RoutesOfGateway {
  readonly gateway: string
  /** Some listener there is programmed. */
  readonly isServed: boolean
}

export interface PlacedRoutes {
  /** By Gateway key, for each of our Gateways. */
  readonly perGateway: ReadonlyMap<string, RoutesOfGateway>
  /** Keys of the Gateways that accepted the route, by `Kind/namespace/name`. Current state. */
  readonly gatewaysOf: ReadonlyMap<string, ReadonlySet<string>>
}

interface Known extends PlacedRoutes {
  readonly placements: readonly Placement[]
  readonly gatewaysOf: Map<string, ReadonlySet<string>>
}

export function keyOfRoute(route: AnyRoute): string {
  return [route.kind, keyOf(route)].join('/')
}

export function placementOf(attached: AttachedRoute): Placement {
  const byGateway = Map.groupBy(attached.listeners, ({ gateway }) => keyOf(gateway))
  const at = [...byGateway].map(([gateway, listeners]): PlacedRules => {
    const served = listeners.filter(({ notProgrammed }) => notProgrammed === undefined)
    const rules = served.map((listener) => rulesOn(attached, listener))
    return {
      gateway,
      isServed: served.length > 0,
      routes: joinedLists(rules.map(({ routes }) => routes)),
      tcpRoutes: joinedLists(rules.map(({ tcpRoutes }) => tcpRoutes)),
    }
  })
  return { attached, key: keyOfRoute(attached.route), gateways: setOf([...byGateway.keys()]), at }
}

/** Most routes are at one listener, and none has routes of both kinds. */
function joinedLists<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = NO_RULES, ...others] = lists.filter(({ length }) => length > 0)
  return others.length === 0 ? first : fitted(first.concat(...others))
}

const NO_RULES: readonly never[] = []
const SETS = new WeakMap<readonly string[], ReadonlySet<string>>()
const LISTS = new SharedParts()

/** One set for all routes at the same Gateways. */
function setOf(gateways: readonly string[]): ReadonlySet<string> {
  const list = LISTS.of(gateways)
  const known = SETS.get(list)
  if (known !== undefined) return known
  const made = new Set(list)
  SETS.set(list, made)
  return made
}

function rulesOn({ route, translation }: AttachedRoute, listener: AttachedRoute['listeners'][number]): RoutesOfGateway {
  if (route.kind === 'TCPRoute' || route.kind === 'TLSRoute') {
    return { routes: NO_RULES, tcpRoutes: renderedL4Rules(route, translation.l4Rules ?? [], listener) }
  }
  return { routes: renderedRules(route, translation.rules, listener), tcpRoutes: NO_RULES }
}

/** Served routes that delegate to other routes, at the Gateway. */
export function delegatingAt(placements: readonly Placement[], gateway: string): AttachedRoute[] {
  return placements.flatMap(({ attached, at }) =>
    attached.translation.groups !== undefined && at.some((one) => one.gateway === gateway && one.isServed)
      ? [attached]
      : [],
  )
}

export function routePlacer(): (gateways: OurGateways, placements: readonly Placement[]) => PlacedRoutes {
  let last: Known | undefined
  return ({ gateways }, placements) => {
    const keys = [...gateways.keys()]
    const carried = last && carriedOn(last, keys, placements)
    return (last = carried ?? placedAnew(keys, placements))
  }
}

/** undefined: too many differences. */
function carriedOn(last: Known, gateways: readonly string[], placements: readonly Placement[]): Known | undefined {
  const edits = changesBetween(last.placements, placements)
  if (edits === undefined) return undefined
  // Before the changes: no placement named a Gateway that did not exist.
  const perGateway = new Map<string, RoutesOfGateway>()
  for (const key of gateways) perGateway.set(key, last.perGateway.get(key) ?? NO_ROUTES)
  const concerned = edits.flatMap(({ removed, added }) => [...removed, ...added].flatMap(({ at }) => at))
  for (const key of new Set(concerned.map(({ gateway }) => gateway))) {
    const lists = perGateway.get(key)
    // A Gateway that is gone.
    if (lists === undefined) continue
    const ofRules = partsEdits(edits, key, last.placements)
    const routes = withParts(
      lists.routes,
      ofRules((rules) => rules.routes),
    )
    const tcpRoutes = withParts(
      lists.tcpRoutes,
      ofRules((rules) => rules.tcpRoutes),
    )
    if (routes === undefined || tcpRoutes === undefined) return undefined
    perGateway.set(key, { routes, tcpRoutes })
  }
  const { gatewaysOf } = last
  for (const { removed } of edits) for (const { key } of removed) gatewaysOf.delete(key)
  for (const { added } of edits) for (const { key, gateways: at } of added) gatewaysOf.set(key, at)
  return { placements, perGateway, gatewaysOf }
}

type RulesOf<B> = (rules: PlacedRules) => readonly B[]

function partsAt<B>({ at }: Placement, gateway: string, rulesOf: RulesOf<B>): readonly B[] {
  return at.flatMap((rules) => (rules.gateway === gateway ? rulesOf(rules) : NO_RULES))
}

const NO_ROUTES: RoutesOfGateway = { routes: NO_RULES, tcpRoutes: NO_RULES }

/** The edits of placements as those of rules at one Gateway. */
function partsEdits(
  edits: readonly ListChange<Placement>[],
  gateway: string,
  before: readonly Placement[],
): <B>(rulesOf: RulesOf<B>) => PartsEdit<B>[] {
  return (rulesOf) => {
    const partsOf = (one: Placement) => partsAt(one, gateway, rulesOf)
    return edits.map(({ at, removed, added }) => ({
      before: removed.flatMap(partsOf),
      now: added.flatMap(partsOf),
      previous: () => lastPartBefore(before, at, partsOf),
    }))
  }
}

function placedAnew(gateways: readonly string[], placements: readonly Placement[]): Known {
  const perGateway = new Map(gateways.map((key) => [key, { routes: [] as Route[], tcpRoutes: [] as TCPRoute[] }]))
  for (const { at } of placements) {
    for (const { gateway, routes, tcpRoutes } of at) {
      const lists = perGateway.get(gateway)
      lists?.routes.push(...routes)
      lists?.tcpRoutes.push(...tcpRoutes)
    }
  }
  return { placements, perGateway, gatewaysOf: new Map(placements.map(({ key, gateways: at }) => [key, at])) }
}
