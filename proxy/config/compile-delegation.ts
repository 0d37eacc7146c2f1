// Routes that delegate requests to other routes: follows them for one request, level by level, each by its own matches.
// A chain of routes is compiled when it is first used.
import type { Route } from '#api/ir/types.gen.ts'
import { weightedPicker } from '../chain/weighted.ts'
import type { HttpRequest } from '../message/message.ts'
import type { DelegatedRoute, LazyRoute, RoutePlan } from '../chain/plan.ts'
import { hostIndexOf } from '../route/host-index.ts'
import { type HostTables, type Router, routerOf } from '../route/router.ts'

/** Limit of delegations of one request; more count as a loop. */
const DEPTH_MAX = 16
/** Limit of compiled chains of one listener: routes that name each other make more chains than requests use. */
const CHAINS_MAX = 10_000

/** A group of this rule, or the rule itself with its other backends. */
type Choice = string | undefined

/** The delegated routes of a configuration, by group. */
export class RouteGroups {
  readonly #membersOf: (group: string) => readonly Route[]
  readonly #tables: HostTables<Route>
  readonly #routers = new Map<string, Router<Route>>()
  readonly #choices = new WeakMap<Route, () => Choice>()

  constructor(membersOf: (group: string) => readonly Route[], tables: HostTables<Route>) {
    this.#membersOf = membersOf
    this.#tables = tables
  }

  router(key: string): Router<Route> {
    let router = this.#routers.get(key)
    if (router === undefined) {
      router = routerOf(hostIndexOf(this.#membersOf(key)), this.#tables, (route) => route)
      this.#routers.set(key, router)
    }
    return router
  }

  /** undefined: the route itself. */
  choose(route: Route): Choice {
    let choose = this.#choices.get(route)
    if (choose === undefined) {
      choose = weightedPicker<Choice>(route.backends.map(({ weight, ref }) => ({ weight, value: ref.routeGroup })))
      this.#choices.set(route, choose)
    }
    return choose()
  }
}

/** `parents`: outermost first. */
type CompileChain = (route: Route, parents: readonly Route[]) => RoutePlan

/** Chains of the routes of one listener. */
export class DelegationChains {
  readonly #groups: RouteGroups
  readonly #compile: CompileChain
  readonly #chains = new Map<string, Chain>()

  constructor(groups: RouteGroups, compile: CompileChain) {
    this.#groups = groups
    this.#compile = compile
  }

  /** undefined: the route delegates nothing. */
  delegateOf(route: Route): LazyRoute['delegate'] {
    if (route.backends.every(({ ref }) => ref.routeGroup === undefined)) return undefined
    return (request, matchedPrefix) => this.#follow(route, request, matchedPrefix)
  }

  #follow(first: Route, request: HttpRequest, matchedPrefix: string | undefined): DelegatedRoute {
    const parents: Route[] = []
    const prefixes = [matchedPrefix]
    const groups = new Set<string>()
    let route = first
    for (let group = this.#groups.choose(route); group !== undefined; group = this.#groups.choose(route)) {
      if (groups.has(group) || groups.size === DEPTH_MAX) return { failure: 'routeCycle' }
      groups.add(group)
      const found = this.#groups.router(group).find(request)
      if (found === undefined) return { failure: 'routeNotFound' }
      parents.push(route)
      route = found.value
      prefixes.push(found.matchedPrefix)
    }
    const { lazy, rewriteLevel } = this.#chain(route, parents)
    return { value: lazy, matchedPrefix: prefixes[rewriteLevel] }
  }

  #chain(route: Route, parents: readonly Route[]): Chain {
    const key = [...parents, route].map((one) => one.key).join(' ')
    let chain = this.#chains.get(key)
    if (chain === undefined) {
      chain = {
        lazy: lazyRoute(route.key, () => this.#compile(route, parents)),
        rewriteLevel: levelOf([...parents, route]),
      }
      if (this.#chains.size >= CHAINS_MAX) this.#chains.clear()
      this.#chains.set(key, chain)
    }
    return chain
  }
}

interface Chain {
  readonly lazy: LazyRoute
  /** The route of the chain whose match is replaced by a rewrite of the prefix. */
  readonly rewriteLevel: number
}

/** The route whose rewrite or redirect is in force; otherwise the last one. */
function levelOf(routes: readonly Route[]): number {
  const level = routes.findLastIndex(
    ({ inlinePolicies }) => inlinePolicies?.urlRewrite !== undefined || inlinePolicies?.requestRedirect !== undefined,
  )
  return level === -1 ? routes.length - 1 : level
}

/** Compiled on first use. */
export function lazyRoute(key: string, compile: () => RoutePlan, delegate?: LazyRoute['delegate']): LazyRoute {
  let plan: RoutePlan | undefined
  return {
    key,
    delegate,
    get plan() {
      plan ??= compile()
      return plan
    },
  }
}
