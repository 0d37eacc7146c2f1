// Which Gateways accepted a route, behind a lookup that stays the same from one translation to the next.
import { changesBetween } from '../changes.ts'
import type { Memory } from '../memory.ts'
import type { RouteGateways } from '../policy/target.ts'
import { isSameSet } from '../same.ts'
import { keyOfRoute } from './placed-routes.ts'
import type { RouteTable } from './route-table.ts'

export type AcceptedRoutes = Pick<RouteTable, 'routes' | 'gatewaysOf'>

/** `enter`: from now on lookups read this. */
export function routeGateways(memory: Memory): RouteGateways & { readonly enter: (table: AcceptedRoutes) => void } {
  const source = memory.source()
  const known = new Map<string, ReadonlySet<string>>()
  let last: AcceptedRoutes = { routes: [], gatewaysOf: new Map() }
  const gatewaysOf = (route: string): ReadonlySet<string> | undefined => known.get(route)
  return {
    get: (route) => memory.read(source, gatewaysOf, route),
    enter({ routes, gatewaysOf: accepted }) {
      // The same map is changed with the routes; another one may differ in any route.
      const edits = accepted === last.gatewaysOf ? changesBetween(last.routes, routes) : undefined
      const keys = edits?.flatMap(({ removed, added }) =>
        [...removed, ...added].map(({ route }) => keyOfRoute(route)),
      ) ?? [...known.keys(), ...accepted.keys()]
      const changed: string[] = []
      for (const key of new Set(keys)) {
        const [before, now] = [known.get(key), accepted.get(key)]
        if (before === now || (before !== undefined && now !== undefined && isSameSet(before, now))) continue
        if (now === undefined) known.delete(key)
        else known.set(key, now)
        changed.push(key)
      }
      last = { routes, gatewaysOf: accepted }
      if (changed.length > 0) memory.changed(source, changed)
    },
  }
}
