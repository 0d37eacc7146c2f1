// The compiled plans of one listener and of its routes. Each plan is reused in the next configuration if
// all its inputs are unchanged: a change has no cost for other routes.
import type { Bind, Listener, Route } from '#api/ir/types.gen.ts'
import { isSame } from '#api/incremental/same.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { TextReads } from '../exchange/slots.ts'
import type { ConnectionLimits } from '../http/handler.ts'
import type { RoutePlan } from '../chain/plan.ts'
import { type ListenerPlace, placeOf } from '../policy/policy-index.ts'
import { effectiveFrontend } from '../policy/merge-backend.ts'
import { effectiveTraffic } from '../policy/merge.ts'
import { compileChain } from '../policy/order.ts'
import type { CompiledChain } from '../chain/filter.ts'
import { compileRoute } from './compile-route.ts'
import { chainEnvironment } from './service-calls.ts'
import type { CompileEnvironment } from './compile-environment.ts'
import type { CompileContext } from './context.ts'
import { recordingTextReads } from './text-reads.ts'
import { type InForce, TrackedContext } from './tracked-context.ts'

export interface ListenerInput {
  readonly listener: Listener
  readonly bind: Bind
  readonly limits: ConnectionLimits
}

interface KeptPlan {
  readonly plan: RoutePlan
  readonly madeOf: TrackedContext
}

/** The part of the environment that changes with configurations, without what plans do not use. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['rateLimits', 'endpoints', 'enterBind'])

export class ListenerPlans {
  readonly place: ExchangePlace
  readonly chain: CompiledChain
  /** Of expressions of `chain`. */
  readonly textReads: TextReads
  readonly #input: ListenerInput
  readonly #listenerPlace: ListenerPlace
  readonly #inForce: InForce
  readonly #madeOf: TrackedContext
  /** Without parents: chains of routes are compiled again. */
  readonly #plans = new WeakMap<Route, KeptPlan>()

  private constructor(input: ListenerInput, context: CompileContext) {
    const { listener, bind } = input
    this.#input = input
    this.#inForce = { context }
    this.#madeOf = new TrackedContext(this.#inForce)
    this.#listenerPlace = placeOf({ ...listener, port: bind.port })
    this.place = {
      bind: bind.key,
      gatewayNamespace: listener.name.gatewayNamespace,
      gatewayName: listener.name.gatewayName,
      listener: listener.name.listenerName,
      routeKind: undefined,
      routeNamespace: undefined,
      routeName: undefined,
      routeRule: undefined,
    }
    const recording = recordingTextReads(this.#madeOf)
    this.chain = chainOf(this.#listenerPlace, bind.port, recording)
    this.textReads = recording.textReads
  }

  /** `former`: the plans of the configuration in force, which they serve until `putInForce`. */
  static of(input: ListenerInput, context: CompileContext, former: ListenerPlans | undefined): ListenerPlans {
    return former !== undefined && former.#isFor(input, context) ? former : new ListenerPlans(input, context)
  }

  /** `context`: of the configuration that has these plans, and is in force from now on. */
  putInForce(context: CompileContext): void {
    this.#inForce.context = context
  }

  /** `parents`: routes that delegated the request to this one. */
  plan(route: Route, parents: readonly Route[], context: CompileContext): RoutePlan {
    // A request may still run on the previous configuration, or on one that is not in force.
    if (parents.length > 0 || this.#inForce.context !== context) return this.#compile(route, parents, context)
    const kept = this.#plans.get(route)
    if (kept?.madeOf.isAnsweredBy(context) === true) return kept.plan
    const madeOf = new TrackedContext(this.#inForce)
    const plan = this.#compile(route, parents, madeOf)
    this.#plans.set(route, { plan, madeOf })
    return plan
  }

  #compile(route: Route, parents: readonly Route[], context: CompileContext): RoutePlan {
    const { bind, limits, listener } = this.#input
    const { place, chain: listenerChain } = this
    const own = { place, listenerPlace: this.#listenerPlace, listenerHostname: listener.hostname, listenerChain }
    return compileRoute({ ...own, route, parents, port: bind.port, limits, context })
  }

  #isFor({ listener, bind, limits }: ListenerInput, context: CompileContext): boolean {
    const former = this.#input
    return (
      listener === former.listener &&
      bind === former.bind &&
      isSame(limits, former.limits) &&
      isSameEnvironment(context.environment, this.#inForce.context.environment) &&
      this.#madeOf.isAnsweredBy(context)
    )
  }
}

function chainOf(place: ListenerPlace, port: number, context: CompileContext): CompiledChain {
  const { preRouting } = effectiveTraffic(context.policies, { ...place, routes: [] })
  const frontend = effectiveFrontend(context.policies, place)
  const deny = frontend.deny === undefined ? [] : [{ value: frontend.deny, source: 'frontend' }]
  return compileChain({ ...preRouting, deny: [...preRouting.deny, ...deny] }, 'PreRouting', {
    ...chainEnvironment(context),
    listenerPort: port,
  })
}

function isSameEnvironment(a: CompileEnvironment, b: CompileEnvironment): boolean {
  const parts = new Map<string, unknown>(Object.entries(b))
  const entries = Object.entries(a)
  return (
    entries.length === parts.size &&
    entries.every(([name, part]) => NOT_COMPARED.has(name) || (parts.has(name) && parts.get(name) === part))
  )
}
