// Policies of a rendered configuration by target. Keeps the order of the configuration within a
// target: the operator writes the older policy first, and the first one wins.
import type { Listener, ObjectName, Policy, PolicyTarget, RouteName, ServiceReference } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import { runAll, type Steps } from '#api/incremental/steps.ts'

/** The entry of a request. Gateway listeners have `listener`; listeners of a ListenerSet have both. */
export interface ListenerPlace {
  readonly gateway: ObjectName
  readonly port?: number | undefined
  readonly listenerSet?: ObjectName | undefined
  readonly listener?: string | undefined
}

export interface PolicyIndex {
  /** Policies of one level; empty without a policy for it. */
  at(level: string): readonly Policy[]
}

export function indexPolicies(policies: readonly Policy[]): Grouped<Policy> {
  return runAll(policyIndexSteps(policies))
}

/** `former`: of the previous policies. */
export function policyIndexSteps(policies: readonly Policy[], former?: Grouped<Policy>): Steps<Grouped<Policy>> {
  return Grouped.stepsOf(policies, ({ target }) => (target.several ?? [target]).flatMap(levelsOf), former)
}

/** The keys of the policies of a listener. */
export function placeOf({ name, port }: Pick<Listener, 'name'> & { port: number }): ListenerPlace {
  return {
    gateway: { namespace: name.gatewayNamespace, name: name.gatewayName },
    port,
    listenerSet: name.listenerSet,
    listener: name.listenerName,
  }
}

/** Levels of a listener, least specific first. */
export function listenerLevels(place: ListenerPlace): string[] {
  const { gateway, port, listenerSet, listener } = place
  const levels = [gatewayLevel(gateway, undefined, undefined)]
  if (port !== undefined) levels.push(gatewayLevel(gateway, undefined, port))
  if (listenerSet !== undefined) {
    levels.push(listenerSetLevel(listenerSet, undefined))
    if (listener !== undefined) levels.push(listenerSetLevel(listenerSet, listener))
  } else if (listener !== undefined) levels.push(gatewayLevel(gateway, listener, undefined))
  return levels
}

/** Levels of one route of a delegation chain, least specific first. */
export function routeLevels(route: RouteName): string[] {
  const { ruleName } = route
  const levels = [routeLevel(route, undefined)]
  if (ruleName !== undefined) levels.push(routeLevel(route, ruleName))
  return levels
}

/** Levels of a Service port, least specific first. */
export function serviceLevels(service: ServiceReference): string[] {
  return [serviceLevel(service, undefined), serviceLevel(service, service.port)]
}

// Names contain no space, so it separates the parts.

export function backendLevel(backend: ObjectName, section: string | undefined): string {
  return `backend ${backend.namespace} ${backend.name}${suffix(section)}`
}

function gatewayLevel(gateway: ObjectName, listener: string | undefined, port: number | undefined): string {
  return `gateway ${gateway.namespace} ${gateway.name}${suffix(listener)}${port === undefined ? '' : ` :${port}`}`
}

function listenerSetLevel(listenerSet: ObjectName, section: string | undefined): string {
  return `listenerSet ${listenerSet.namespace} ${listenerSet.name}${suffix(section)}`
}

function routeLevel(route: Pick<RouteName, 'kind' | 'namespace' | 'name'>, rule: string | undefined): string {
  return `${route.kind} ${route.namespace} ${route.name}${suffix(rule)}`
}

function serviceLevel(service: { namespace: string; hostname: string }, port: number | undefined): string {
  return `service ${service.namespace} ${service.hostname}${port === undefined ? '' : ` :${port}`}`
}

function suffix(part: string | undefined): string {
  return part === undefined ? '' : ` ${part}`
}

function levelsOf(target: PolicyTarget): string[] {
  const level = levelOf(target)
  return level === undefined ? [] : [level]
}

function levelOf({ gateway, listenerSet, route, service, backend }: PolicyTarget): string | undefined {
  if (gateway !== undefined) return gatewayLevel(gateway, gateway.listener, gateway.port)
  if (listenerSet !== undefined) return listenerSetLevel(listenerSet, listenerSet.section)
  if (route !== undefined) return routeLevel(route, route.ruleName)
  if (service !== undefined) return serviceLevel(service, service.port)
  return backend === undefined ? undefined : backendLevel(backend, backend.section)
}
