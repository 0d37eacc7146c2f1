// The routes of each listener by host name. What the configuration before has as well is taken over.
import type { Route } from '#api/ir/types.gen.ts'
import { byHost } from '../route/router.ts'
import type { Grouped } from './grouped.ts'

const NONE: Grouped<Route> = { list: [], groups: new Map() }

export class RouteHosts {
  readonly #routes: readonly Route[]
  /** By key of the listener. */
  readonly #hosts: ReadonlyMap<string, Grouped<Route>>

  private constructor(routes: readonly Route[], former: RouteHosts | undefined) {
    this.#routes = routes
    const lists = new Map<string, Route[]>()
    for (const route of routes) {
      // Without one it is reached through other routes.
      if (route.listenerKey === undefined) continue
      const list = lists.get(route.listenerKey)
      if (list === undefined) lists.set(route.listenerKey, [route])
      else list.push(route)
    }
    this.#hosts = new Map([...lists].map(([key, list]) => [key, byHost(list, former?.at(key))]))
  }

  /** `former`: of the configuration in force. */
  static of(routes: readonly Route[], former?: RouteHosts): RouteHosts {
    return former !== undefined && former.#routes === routes ? former : new RouteHosts(routes, former)
  }

  at(listener: string): Grouped<Route> {
    return this.#hosts.get(listener) ?? NONE
  }
}
