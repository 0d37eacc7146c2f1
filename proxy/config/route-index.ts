// The routes of a configuration by listener and host name, or by their group. Updated
// from one configuration to the next.
import type { Route } from '#api/ir/types.gen.ts'
import { type HostIndex, hostKeysOf, isWildcard } from '../route/host-index.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import type { Steps } from '#api/incremental/steps.ts'

export class RouteIndex {
  readonly #routes: Grouped<Route>

  private constructor(routes: Grouped<Route>) {
    this.#routes = routes
  }

  /** `former`: the index of the configuration in force. */
  static *stepsOf(routes: readonly Route[], former?: RouteIndex): Steps<RouteIndex> {
    const now = yield* Grouped.stepsOf(routes, keysOf, former && former.#routes)
    return former !== undefined && now === former.#routes ? former : new RouteIndex(now)
  }

  /** The routes of a listener by host name. */
  at(listener: string): HostIndex<Route> {
    return {
      at: (host) => this.#routes.at(hostKey(listener, host)),
      wildcards: wildcardsOf(this.#routes.at(wildcardKey(listener))),
    }
  }

  /** The routes of a listener, for rare questions: reads the whole configuration. */
  ofListener(listener: string): readonly Route[] {
    return this.#routes.list.filter(({ listenerKey }) => listenerKey === listener)
  }

  /** Routes that other routes delegate requests to. */
  group(key: string): readonly Route[] {
    return this.#routes.at(groupKey(key))
  }
}

// Names of listeners and hosts contain no space, so it separates the parts.

function hostKey(listener: string, host: string): string {
  return `host ${listener} ${host}`
}

/** The routes of a listener that have a host name with a wildcard. */
function wildcardKey(listener: string): string {
  return `wildcards ${listener}`
}

function groupKey(group: string): string {
  return `group ${group}`
}

function keysOf({ listenerKey, routeGroupKey, hostnames }: Route): string[] {
  const keys = routeGroupKey === undefined ? [] : [groupKey(routeGroupKey)]
  // Without a listener, other routes delegate requests to it.
  if (listenerKey === undefined) return keys
  const hosts = hostKeysOf(hostnames)
  if (hosts.some(isWildcard)) keys.push(wildcardKey(listenerKey))
  for (const host of hosts) keys.push(hostKey(listenerKey, host))
  return keys
}

const remembered = new WeakMap<readonly Route[], readonly string[]>()

function wildcardsOf(routes: readonly Route[]): readonly string[] {
  let hosts = remembered.get(routes)
  if (hosts === undefined) {
    hosts = [...new Set(routes.flatMap(({ hostnames }) => hostKeysOf(hostnames).filter(isWildcard)))]
    remembered.set(routes, hosts)
  }
  return hosts
}
