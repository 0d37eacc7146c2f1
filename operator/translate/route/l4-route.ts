// The rules of a TCPRoute or TLSRoute in rendered form, before listeners are chosen: bytes are forwarded, so a rule is
// a list of backends.
import type { TCPRoute as TcpRouteObject } from '#api/gateway/tcproute.gen.ts'
import type { TLSRoute as TlsRouteObject } from '#api/gateway/tlsroute.gen.ts'
import type { RouteBackend, TCPRoute } from '#api/ir/types.gen.ts'
import type { RouteListener } from '../gateway/listener.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import { createdAt } from '../order.ts'
import { type ReferenceScope, resolveReference } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'
import { listenerSuffix } from './routes.ts'
import type { L4RuleDraft, RouteTranslation } from './translation.ts'

export type L4Route = TcpRouteObject | TlsRouteObject

type L4Rule = L4Route['spec']['rules'][number]

export function translateL4Route(route: L4Route, scope: ReferenceScope): RouteTranslation {
  const unresolved: RouteFault[] = []
  const l4Rules = route.spec.rules.map((rule, index): L4RuleDraft => {
    const path = `spec.rules[${index}]`
    return {
      kind: route.kind,
      name: { namespace: namespaceOf(route), name: route.metadata.name },
      ...(rule.name !== undefined && { ruleName: rule.name }),
      hostnames: hostnamesOf(route),
      backends: rule.backendRefs.map((ref, at) => {
        const { backend, fault } = translateBackend(route, ref, scope)
        if (fault !== undefined) unresolved.push({ path: `${path}.backendRefs[${at}]`, ...fault })
        return backend
      }),
    }
  })
  return { rules: [], l4Rules, faults: [], unresolved, notProgrammed: [] }
}

/** Keys begin with the age of the route: among routes for one name the oldest one's first rule is the first key. */
export function renderedL4Rules(route: L4Route, rules: readonly L4RuleDraft[], listener: RouteListener): TCPRoute[] {
  const created = createdAt(route)
  const age = created === undefined ? '' : `${String(created).padStart(AGE_DIGITS, '0')}/`
  const base = `${age}${nameKey(namespaceOf(route), route.metadata.name)}`
  const kind = route.kind === 'TLSRoute' ? '.tls' : ''
  return rules.map((rule, index) => ({
    key: `${base}.${String(index).padStart(2, '0')}${kind}.${listenerSuffix(listener)}`,
    listenerKey: listener.key,
    ...rule,
  }))
}

const AGE_DIGITS = 10

function hostnamesOf({ spec }: L4Route): string[] {
  return 'hostnames' in spec ? spec.hostnames.map((hostname) => hostname.toLowerCase()) : []
}

interface BackendPart {
  readonly backend: RouteBackend
  readonly fault?: Pick<RouteFault, 'reason' | 'message'>
}

function translateBackend(route: L4Route, ref: L4Rule['backendRefs'][number], scope: ReferenceScope): BackendPart {
  const from = { group: GATEWAY_GROUP, kind: route.kind, namespace: namespaceOf(route) }
  const resolved = resolveReference(ref, from, scope)
  const weight = ref.weight ?? 1
  const key = resolved.ref.backend
  const special = key === undefined ? undefined : specialKind(key, route.kind, scope)
  if (special !== undefined) {
    const message = `backend(${key}) is ${special} and cannot serve TCP or TLS routes; use it in an HTTPRoute`
    const invalid = { reason: 'UnsupportedValue' as const, message }
    return { backend: { weight, ref: { invalid } }, fault: invalid }
  }
  const { invalid } = resolved
  return { backend: { weight, ref: resolved.ref }, ...(invalid !== undefined && { fault: invalid }) }
}

/** Backends that are not only an address. */
function specialKind(key: string, routeKind: string, { snapshot }: ReferenceScope): string | undefined {
  const slash = key.indexOf('/')
  const { ai, mcp, dynamicForwardProxy } = snapshot.GwBackend.get(key.slice(0, slash), key.slice(slash + 1))?.spec ?? {}
  if (ai !== undefined) return 'an LLM backend'
  if (mcp !== undefined) return 'an MCP backend'
  // Without TLS the bytes contain no destination.
  return dynamicForwardProxy === undefined || routeKind === 'TLSRoute' ? undefined : 'a dynamic forward proxy'
}
