// The translation of a route of any kind, before listeners are chosen. Types only.
import type { Route, TCPRoute } from '#api/ir/types.gen.ts'
import type { RouteFault } from '../route-fault.ts'
import type { RouteGroup } from './route-group.ts'

/** One rule; key and listenerKey are added for each listener that accepts the route. */
export type RuleDraft = Omit<Route, 'key' | 'listenerKey' | 'routeGroupKey'>

/** One rule of a TCPRoute or TLSRoute, likewise. */
export type L4RuleDraft = Omit<TCPRoute, 'key' | 'listenerKey'>

export interface RouteTranslation {
  readonly rules: readonly RuleDraft[]
  /** Of TCPRoutes and TLSRoutes, which have no other rules. */
  readonly l4Rules?: readonly L4RuleDraft[]
  /** Of HTTPRoutes that delegate to other routes. */
  readonly groups?: readonly RouteGroup[]
  /** The route cannot be served as written. */
  readonly faults: readonly RouteFault[]
  readonly unresolved: readonly RouteFault[]
  /** Fields this version does not run; the route is served without them. */
  readonly notProgrammed: readonly RouteFault[]
}
