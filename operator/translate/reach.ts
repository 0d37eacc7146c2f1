// What each Gateway can reach: the Services and backends its routes lead to, directly or through other backends and
// policies. Only that is delivered to it, and only policies on it take effect there.
import type { BackendReference, Route } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from './model/model.ts'
import { referencesOf, type References } from './references.ts'

export interface Reach {
  /** Host name to ports. */
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  /** Keys of GwBackends. */
  readonly backends: ReadonlySet<string>
}

export interface GrowingReach extends Reach {
  readonly services: Map<string, Set<number>>
  readonly backends: Set<string>
}

/** What routes of every kind have in common here. */
export type RouteReferences = Pick<Route, 'backends' | 'inlinePolicies'>

/** Rendered routes do not change: what each leads to is found once. */
const led = new WeakMap<RouteReferences, References>()

export function reachOf(
  routes: readonly RouteReferences[],
  backends: ReadonlyMap<string, DeliveredBackend>,
): GrowingReach {
  const reach: GrowingReach = { services: new Map(), backends: new Set() }
  for (const route of routes) {
    let references = led.get(route)
    if (references === undefined) led.set(route, (references = referencesOf(refsOf(route))))
    follow(references, reach, backends)
  }
  return reach
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
      if (ports === undefined) services.set(hostname, new Set([port]))
      else ports.add(port)
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
