// Attaches routes to the listeners of our Gateways: which rule goes to which listener, and the status for each parent.
import type { HTTPRouteParentRef } from '#api/gateway/httproute.gen.ts'
import type { Route } from '#api/ir/types.gen.ts'
import type { RouteListener } from '../gateway/listener.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import { type Acceptance, acceptRoute, type AnyRoute, type Attachable } from './accept.ts'
import type { RouteFault } from '../route-fault.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import { parentRoutesOf } from './route-group.ts'
import { fitted } from '../same.ts'
import type { RouteTranslation, RuleDraft } from './translation.ts'

export interface ParentResult {
  readonly parentRef: HTTPRouteParentRef
  readonly acceptance: Acceptance
}

export interface AttachedRoute {
  readonly route: AnyRoute
  readonly translation: RouteTranslation
  /** One for each distinct parentRef that names one of our parents. */
  readonly parents: readonly ParentResult[]
  /** Listeners that accepted the route, each once. Empty when the route cannot be served as written. */
  readonly listeners: readonly RouteListener[]
  /** Some of its parents are routes: `parents` has no entries for them. */
  readonly namesRoutes: boolean
  /** Backends that cannot answer any request at the moment (availability.ts). Unset: none. */
  readonly unavailable?: readonly RouteFault[]
  /** Requests that it takes from others, and others from it (shared-hosts.ts). Unset: nothing. */
  readonly sharedHosts?: string
}

export function attachRoute(route: AnyRoute, translation: RouteTranslation, ours: ParentLookup): AttachedRoute {
  const parents = attachedParents(route, route.spec.parentRefs ?? [], ours)
  const listeners = new Set<RouteListener>()
  if (translation.faults.length === 0) {
    for (const { acceptance } of parents) {
      if (!('listeners' in acceptance)) continue
      for (const listener of acceptance.listeners) listeners.add(listener)
    }
  }
  const namesRoutes = route.kind === 'HTTPRoute' && parentRoutesOf(route).length > 0
  return { route, translation, parents, listeners: [...listeners], namesRoutes }
}

/** The result for each distinct parentRef that names one of our parents. */
export function attachedParents(
  route: Attachable,
  parentRefs: readonly HTTPRouteParentRef[],
  ours: ParentLookup,
): ParentResult[] {
  const refs = distinctParentRefs(parentRefs, namespaceOf(route))
  return fitted(refs.flatMap((parentRef) => parentResult(route, parentRef, ours)))
}

/** The rules of an attached route on one listener. */
export function renderedRules(route: AnyRoute, rules: readonly RuleDraft[], listener: RouteListener): Route[] {
  const suffix = listenerSuffix(listener)
  // An HTTPRoute may have the same name.
  const kind = route.kind === 'GRPCRoute' ? ['grpc'] : []
  const base = nameKey(namespaceOf(route), route.metadata.name)
  return rules.map((rule, index) => ({
    key: [base, String(index).padStart(2, '0'), ...kind, suffix].join('.'),
    listenerKey: listener.key,
    ...rule,
  }))
}

/** Two ListenerSets may have listeners of one name; their routes must not share a key. */
export function listenerSuffix({ spec, set }: RouteListener): string {
  return set === undefined ? spec.name : `${namespaceOf(set)}.${set.metadata.name}.${spec.name}`
}

function parentResult(route: Attachable, parentRef: HTTPRouteParentRef, ours: ParentLookup): ParentResult[] {
  const { group = GATEWAY_GROUP, kind = 'Gateway', name, namespace = namespaceOf(route) } = parentRef
  if (group !== GATEWAY_GROUP) return []
  const key = nameKey(namespace, name)
  const candidate = { route, parentRef, parentNamespace: namespace }
  if (kind === 'Gateway') {
    const section = sectionOf(key, parentRef, ours)
    if (section.length > 0) return [{ parentRef, acceptance: acceptRoute({ ...candidate, listeners: section }) }]
    const gateway = ours.gateways.get(key)
    if (gateway === undefined) return []
    return [{ parentRef, acceptance: acceptRoute({ ...candidate, listeners: gateway.listeners }) }]
  }
  const listenerSet = kind === 'ListenerSet' ? ours.listenerSets.get(key) : undefined
  if (listenerSet === undefined) return []
  if (listenerSet.refusal !== undefined) {
    const message = `ListenerSet ${key} is not accepted by its Gateway: ${listenerSet.refusal.message}`
    return [{ parentRef, acceptance: { denial: { reason: 'NoMatchingParent', message } } }]
  }
  return [{ parentRef, acceptance: acceptRoute({ ...candidate, listeners: listenerSet.listeners }) }]
}

/** The listeners that decide alone; empty: messages may name all of them. */
function sectionOf(
  key: string,
  { sectionName, port }: HTTPRouteParentRef,
  ours: ParentLookup,
): readonly RouteListener[] {
  return sectionName === undefined || port !== undefined ? [] : ours.section(key, sectionName)
}

/** Each parentRef once, with its defaults compared. */
export function distinctParentRefs(refs: readonly HTTPRouteParentRef[], ownNamespace: string): HTTPRouteParentRef[] {
  const byKey = new Map<string, HTTPRouteParentRef>()
  for (const ref of refs) {
    const { group = GATEWAY_GROUP, kind = 'Gateway', namespace = ownNamespace, name, sectionName, port } = ref
    const key = [group, kind, namespace, name, sectionName ?? '', port ?? ''].join('/')
    if (!byKey.has(key)) byKey.set(key, ref)
  }
  return [...byKey.values()]
}
