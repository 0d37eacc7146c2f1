// What each Gateway can reach: the Services and backends its routes lead to, directly or through other backends and
// policies. Only that is delivered to it, and only policies on it take effect there.
import { isIdentical } from '#api/identical.ts'
import type { BackendReference, Route } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from './model/model.ts'
import { referencesOf, type References } from './references.ts'
import { same } from './same.ts'

export interface Reach {
  /** Host name to ports. */
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  /** Keys of GwBackends. */
  readonly backends: ReadonlySet<string>
}

export interface GrowingReach extends Reach {
  readonly services: Map<string, ReadonlySet<number>>
  readonly backends: Set<string>
}

/** What routes of every kind have in common here. */
export type RouteReferences = Pick<Route, 'backends' | 'inlinePolicies'>

type Backends = ReadonlyMap<string, DeliveredBackend>

/** What the routes of a Gateway led to last time, by their places, and what was reached from there. */
interface Reached {
  readonly routes: readonly RouteReferences[]
  readonly references: readonly References[]
  readonly backends: Backends
  readonly reach: Reach
}

/** By Gateway. What most changes of routes change leads nowhere else: then all is as it was. */
export function reachTracker(): (
  routes: ReadonlyMap<string, readonly RouteReferences[]>,
  backends: Backends,
) => Map<string, GrowingReach> {
  let last = new Map<string, Reached>()
  return (routes, backends) => {
    last = new Map([...routes].map(([key, list]) => [key, reachedFrom(last.get(key), list, backends)]))
    const grown = [...last].map(([key, { reach }]): [string, GrowingReach] => [
      key,
      { services: new Map(reach.services), backends: new Set(reach.backends) },
    ])
    return new Map(grown)
  }
}

function reachedFrom(before: Reached | undefined, routes: readonly RouteReferences[], backends: Backends): Reached {
  const references = routes.map((route, index) => {
    const known = before?.references[index]
    if (known !== undefined && before?.routes[index] === route) return known
    return same(known, referencesOf(refsOf(route)))
  })
  const isSameReach =
    before !== undefined &&
    isIdentical(before.references, references) &&
    before.backends.size === backends.size &&
    [...backends].every(([key, backend]) => before.backends.get(key) === backend)
  if (isSameReach) return { ...before, routes }
  const reach: GrowingReach = { services: new Map(), backends: new Set() }
  for (const one of references) follow(one, reach, backends)
  return { routes, references, backends, reach }
}

/** Adds what the references lead to. Cycles are fine: each backend is followed once. */
export function follow(
  references: References,
  { services, backends: reached }: GrowingReach,
  backends: ReadonlyMap<string, DeliveredBackend>,
): void {
  const pending = [references]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const { hostname, port } of next.services) {
      const ports = services.get(hostname)
      // Sets of ports are shared with what was reached before, and never changed.
      if (ports === undefined) services.set(hostname, new Set([port]))
      else if (!ports.has(port)) services.set(hostname, new Set([...ports, port]))
    }
    for (const key of next.backends) {
      const backend = backends.get(key)
      if (backend === undefined || reached.has(key)) continue
      reached.add(key)
      pending.push(backend.references)
    }
  }
}

/** Backends of the route, and the mirrors and authorization services of its rule and of each of them. */
function refsOf({ backends, inlinePolicies }: RouteReferences): BackendReference[] {
  const holders = [inlinePolicies, ...backends.map((backend) => backend.inlinePolicies)]
  const mirrors = holders.flatMap((policies) => policies?.requestMirror ?? [])
  return [...[...backends, ...mirrors].map(({ ref }) => ref), ...holders.flatMap(servicesOf)]
}

function servicesOf(policies: RouteReferences['inlinePolicies']): BackendReference[] {
  // Filters of routes have no conditions.
  const { extAuthz } = policies ?? {}
  return extAuthz !== undefined && 'service' in extAuthz ? [extAuthz.service] : []
}
