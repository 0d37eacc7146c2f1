// Follows routes that delegate requests to other routes: which children each Gateway receives, and the status of
// children for the parents that they name. Loops end here; the proxy answers a request that runs into one with 500.
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import type { Route } from '#api/ir/types.gen.ts'
import { fairlyAdmitted } from '../fair-share.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import type { RouteGroup } from './route-group.ts'
import { type AttachedRoute, distinctParentRefs, type ParentResult } from './routes.ts'
import type { RouteTranslation } from './translation.ts'

export interface DelegationInput {
  /** Routes that are attached to listeners. */
  readonly attached: readonly AttachedRoute[]
  readonly translationOf: (route: HTTPRoute) => RouteTranslation
  readonly membersOf: (group: RouteGroup) => readonly HTTPRoute[]
}

export interface Delegated {
  readonly group: RouteGroup
  readonly route: HTTPRoute
  readonly translation: RouteTranslation
}

/** Every child that requests can reach, once for each of its groups; also children that cannot be served as written. */
export function delegatedRoutes({ attached, translationOf, membersOf }: DelegationInput): Delegated[] {
  const delegated: Delegated[] = []
  const seen = new Set<string>()
  const pending = attached.flatMap(({ translation }) => translation.groups ?? [])
  // Grows while it is read; each group counts once.
  for (const group of pending) {
    if (seen.has(group.key)) continue
    seen.add(group.key)
    for (const route of membersOf(group)) {
      const translation = translationOf(route)
      delegated.push({ group, route, translation })
      if (translation.faults.length === 0) pending.push(...(translation.groups ?? []))
    }
  }
  return delegated
}

export interface FittingMembers {
  readonly members: readonly Delegated[]
  /** Keys of the parents whose children do not all fit into the Gateway. */
  readonly cut: readonly string[]
}

/** Namespaces of the parents share the room fairly. */
export function fittingMembers(delegated: readonly Delegated[], rulesMax: number): FittingMembers {
  const claimants = delegated.map(({ group, translation }) => ({
    namespace: group.parent.slice(0, group.parent.indexOf('/')),
    cost: translation.rules.length,
  }))
  const admitted = fairlyAdmitted(claimants, rulesMax)
  if (admitted === undefined) return { members: delegated, cut: [] }
  const cut = new Set(delegated.flatMap(({ group }, at) => (admitted[at] === true ? [] : [group.parent])))
  return { members: delegated.filter((_, at) => admitted[at]), cut: [...cut] }
}

/** The rules of a child in one group; none of a child that cannot be served as written. */
export function renderedMembers({ group, route, translation }: Delegated): Route[] {
  if (translation.faults.length > 0) return []
  const parent = group.parent.replace('/', '.')
  const suffix = `routegroup.${parent}.${group.namespace}.${group.selector}`
  return translation.rules.map((rule, index) => ({
    key: `${keyOf(route)}.${String(index).padStart(2, '0')}.${suffix}`,
    routeGroupKey: group.key,
    ...rule,
  }))
}

export interface ParentsInput {
  /** All groups that requests of our Gateways can reach, by the key of the parent. */
  readonly children: ReadonlyMap<string, ReadonlySet<HTTPRoute>>
  /** Whether requests of our Gateways can reach the route. */
  readonly isOurs: (key: string) => boolean
}

/** For each HTTPRoute that the route names as its parent. Other controllers report about their own parents. */
export function parentRouteResults(route: HTTPRoute, { children, isOurs }: ParentsInput): ParentResult[] {
  return distinctParentRefs(route.spec.parentRefs ?? [], namespaceOf(route)).flatMap((parentRef): ParentResult[] => {
    const { group = GATEWAY_GROUP, kind, name, namespace = namespaceOf(route) } = parentRef
    const key = nameKey(namespace, name)
    if (group !== GATEWAY_GROUP || kind !== 'HTTPRoute' || !isOurs(key)) return []
    if (children.get(key)?.has(route) === true) return [{ parentRef, acceptance: { listeners: [] } }]
    const message = 'Parent HTTPRoute does not delegate to this route'
    return [{ parentRef, acceptance: { denial: { reason: 'NoMatchingParent', message } } }]
  })
}
