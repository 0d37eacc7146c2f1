// What each Gateway can reach: the Services and backends its routes lead to, directly or through other backends. Only
// that is delivered to it, and only policies on it take effect there.
import type { Route } from '#api/ir/types.gen.ts'
import type { BackendTranslation } from './backend/backend.ts'
import { referencesOf, type References } from './references.ts'

export interface Reach {
  /** Host name to ports. */
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  /** Keys of GwBackends. */
  readonly backends: ReadonlySet<string>
}

/** Cycles are fine: each backend is followed once. */
export function reachOf(routes: readonly Route[], backends: ReadonlyMap<string, BackendTranslation>): Reach {
  const services = new Map<string, Set<number>>()
  const reached = new Set<string>()
  const pending: string[] = []
  const follow = (references: References): void => {
    for (const { hostname, port } of references.services) {
      const ports = services.get(hostname)
      if (ports === undefined) services.set(hostname, new Set([port]))
      else ports.add(port)
    }
    pending.push(...references.backends)
  }
  for (const route of routes) follow(referencesOf(route.backends.map(({ ref }) => ref)))
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    const backend = backends.get(key)
    if (backend === undefined || reached.has(key)) continue
    reached.add(key)
    follow(backend.references)
  }
  return { services, backends: reached }
}
