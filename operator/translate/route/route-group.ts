// A backendRef of kind HTTPRoute: which routes it delegates to. Resolves one reference; delegation.ts follows them.
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import type { InvalidReference } from '#api/ir/types.gen.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import type { BackendRefFields, ReferenceScope } from '../service/reference.ts'

/** A parent and what it delegates to. */
export interface RouteGroup {
  /** `{parent namespace}/{parent}/{namespace}/{selector}` */
  readonly key: string
  /** Of the parent: `namespace/name`. */
  readonly parent: string
  readonly namespace: string
  /** The name of a route, `*`, or `label=value`. */
  readonly selector: string
}

export interface GroupMembers {
  readonly routes: readonly HTTPRoute[]
  /** Why it is empty. */
  readonly fault?: InvalidReference
}

const ANY = '*'

export function isDelegation({ group, kind }: Pick<BackendRefFields, 'group' | 'kind'>): boolean {
  return group === GATEWAY_GROUP && kind === 'HTTPRoute'
}

export function groupOf(parent: HTTPRoute, { name, namespace = namespaceOf(parent) }: BackendRefFields): RouteGroup {
  return { key: `${keyOf(parent)}/${namespace}/${name}`, parent: keyOf(parent), namespace, selector: name }
}

/** Older routes first. */
export function membersOf(group: RouteGroup, scope: ReferenceScope): GroupMembers {
  const { namespace, selector } = group
  const named = candidates(group, scope)
  if (named.length === 0) {
    return { routes: [], fault: { reason: 'BackendNotFound', message: `no HTTPRoute ${nameKey(namespace, selector)}` } }
  }
  const willing = named.filter((route) => takesFrom(route, group.parent))
  if (willing.length === 0) {
    const message = `HTTPRoute ${nameKey(namespace, selector)} refers to other parents; add this route to its parentRefs`
    return { routes: [], fault: { reason: 'BackendNotFound', message } }
  }
  const routes = willing.filter((route) => isPermitted(route, group, scope))
  if (routes.length > 0) return { routes }
  const own = group.parent.slice(0, group.parent.indexOf('/'))
  const message =
    `HTTPRoute ${nameKey(namespace, selector)} not accessible to a HTTPRoute in namespace ${own}; ` +
    'add a ReferenceGrant, or this route to its parentRefs'
  return { routes: [], fault: { reason: 'RefNotPermitted', message } }
}

/** Whether the route itself names this parent, among parents of its kind. */
function namesParent(route: HTTPRoute, parent: string): boolean {
  return parentRoutesOf(route).includes(parent)
}

/** Keys of the HTTPRoutes that the route names as parents. */
export function parentRoutesOf(route: HTTPRoute): string[] {
  return (route.spec.parentRefs ?? [])
    .filter(({ group = GATEWAY_GROUP, kind }) => group === GATEWAY_GROUP && kind === 'HTTPRoute')
    .map(({ name, namespace = namespaceOf(route) }) => nameKey(namespace, name))
}

function candidates({ parent, namespace, selector }: RouteGroup, { snapshot }: ReferenceScope): HTTPRoute[] {
  const equals = selector.indexOf('=')
  if (selector !== ANY && equals === -1) {
    const named = snapshot.HTTPRoute.get(namespace, selector)
    return named === undefined ? [] : [named]
  }
  const label = selector.slice(0, equals)
  const value = selector.slice(equals + 1)
  // A pattern that matches the parent as well does not include it.
  return snapshot.HTTPRoute.all.filter(
    (route) =>
      namespaceOf(route) === namespace &&
      keyOf(route) !== parent &&
      (selector === ANY || (Object.hasOwn(route.metadata.labels ?? {}, label) && labelOf(route, label) === value)),
  )
}

function labelOf({ metadata }: HTTPRoute, label: string): string | undefined {
  return metadata.labels?.[label]
}

/** A route that names parents among routes is reached through these only. */
function takesFrom(route: HTTPRoute, parent: string): boolean {
  const parents = parentRoutesOf(route)
  return parents.length === 0 || parents.includes(parent)
}

/** Across namespaces the owner of the child must agree: by a grant, or by naming the parent. */
function isPermitted(route: HTTPRoute, { parent }: RouteGroup, scope: ReferenceScope): boolean {
  const from = { group: GATEWAY_GROUP, kind: 'HTTPRoute', namespace: parent.slice(0, parent.indexOf('/')) }
  const to = { group: GATEWAY_GROUP, kind: 'HTTPRoute', namespace: namespaceOf(route), name: route.metadata.name }
  return scope.refusalOf({ from, to }) === undefined || namesParent(route, parent)
}
