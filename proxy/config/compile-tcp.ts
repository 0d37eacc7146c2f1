// TCP connections that are forwarded: routes and backends of one listener of protocol TCP, or of TLS without HTTP.
import type { BackendReference, RouteBackend, TCPRoute } from '#api/ir/types.gen.ts'
import type { ListenerFrontend } from '../policy/fields.ts'
import { Destinations } from '../backend/dynamic.ts'
import { connectionHealth } from '../backend/health.ts'
import { weightedPicker } from '../chain/weighted.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { AccessLogRule } from '../log/access-log.ts'
import type { MetricLabels } from '../metrics/metric-labels.ts'
import { compileNetworkAuthorization } from '../policy/auth/network-authorization.ts'
import type { ListenerPlace } from '../policy/policy-index.ts'
import { effectiveBackend } from '../policy/merge-backend.ts'
import { buildHostMap, type HostMap } from '../route/host-map.ts'
import type { TcpBackendPlan, TcpPlan, TcpRoutePlan } from '../tcp/plan.ts'
import type { CompileContext } from './context.ts'
import { lazily } from './lazily.ts'

export interface TcpListenerInput {
  readonly place: ExchangePlace
  readonly listenerPlace: ListenerPlace
  /** In any order. */
  readonly routes: readonly TCPRoute[]
  readonly frontend: ListenerFrontend
  readonly accessLog: AccessLogRule | undefined
  readonly metricLabels: MetricLabels | undefined
  readonly context: CompileContext
}

export function compileTcp(input: TcpListenerInput): TcpPlan {
  const { place, frontend, accessLog, metricLabels, context } = input
  const rules = frontend.networkAuthorization ?? []
  const isAdmitted = compileNetworkAuthorization(rules, context.expression)
  const routes = routesByName(input)
  return {
    place,
    accessLog,
    metricLabels,
    // A policy that cannot be enforced rejects the connections that it applies to.
    admits: frontend.deny === undefined ? (isAdmitted ?? admitAll) : admitNone,
    // Most specific name first; without a server name only routes without host names match.
    route: (serverName) => routes.find(serverName ?? '')?.value,
  }
}

function admitAll(): boolean {
  return true
}

function admitNone(): boolean {
  return false
}

/** Keys begin with the age of the route: the first key wins where several routes have one name. */
function routesByName(input: TcpListenerInput): HostMap<TcpRoutePlan> {
  const byName = new Map<string | undefined, TcpRoutePlan>()
  const add = (name: string | undefined, plan: TcpRoutePlan): void => {
    if (!byName.has(name)) byName.set(name, plan)
  }
  for (const route of [...input.routes].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const plan = compileRoute(input, route)
    if (route.hostnames.length === 0) add(undefined, plan)
    else for (const hostname of route.hostnames) add(hostname.toLowerCase(), plan)
  }
  return buildHostMap(byName)
}

function compileRoute(input: TcpListenerInput, route: TCPRoute): TcpRoutePlan {
  const place: ExchangePlace = {
    ...input.place,
    routeKind: route.kind,
    routeNamespace: route.name.namespace,
    routeName: route.name.name,
    routeRule: route.ruleName,
  }
  const pick = weightedPicker(
    route.backends.map((backend) => ({ weight: backend.weight, value: lazily(() => compileBackend(input, backend)) })),
  )
  return { place, pickBackend: () => pick()?.() }
}

function compileBackend(
  { listenerPlace, context }: TcpListenerInput,
  { ref, inlinePolicies }: RouteBackend,
): TcpBackendPlan {
  const { resolver, policies } = context
  const name = nameOf(ref)
  const backend = ref.backend === undefined ? undefined : resolver.backend(ref.backend)
  const merged = effectiveBackend(policies, {
    ...listenerPlace,
    routes: [],
    service: ref.service,
    backend,
    refInlinePolicies: inlinePolicies,
  })
  const broken = (code: BrokenCode, detail: string): TcpBackendPlan => ({
    name,
    target: { kind: 'Broken', code, detail },
  })
  if (ref.invalid !== undefined) return broken('backendNotFound', ref.invalid.message)
  if (merged.deny !== undefined) return broken('policyDenied', merged.deny.message)
  if (ref.backend !== undefined) {
    if (backend === undefined) return broken('backendNotFound', ref.backend)
    const refusal = backend.invalid ?? backend.unsupported
    if (refusal !== undefined) return broken('backendNotFound', refusal)
    const { dynamic } = context.environment
    if (backend.dynamic !== undefined && dynamic !== undefined) {
      const destinations = new Destinations((host, port) => resolver.dynamic(host, port, merged, dynamic.guard))
      return { name, target: { kind: 'Dynamic', pick: (facts) => destinations.ofConnection(facts) } }
    }
    if (backend.static === undefined)
      return broken('invalidBackendType', `backend ${backend.key} does not accept plain TCP`)
  }
  const picker = resolver.resolve(ref, merged)
  if (picker === undefined) return broken('serviceNotFound', name)
  return { name, target: { kind: 'Endpoints', picker, health: connectionHealth(merged) } }
}

type BrokenCode = 'backendNotFound' | 'serviceNotFound' | 'invalidBackendType' | 'policyDenied'

/** CEL `backend.name`. */
function nameOf({ service, backend }: BackendReference): string {
  if (service !== undefined) return `service/${service.namespace}/${service.hostname}:${service.port}`
  return backend ?? 'invalid'
}
