// Puts together what one Gateway receives: its listeners and routes, and only the backends, Services, policies and
// secrets that they lead to. Everything is ordered by key.
import { isIdentical } from '#api/incremental/identical.ts'
import type {
  Bind,
  Listener,
  Policy,
  RenderedConfig,
  RenderedSecret,
  RenderedSecrets,
  Route,
  Service,
  TCPRoute,
} from '#api/ir/types.gen.ts'
import type { OurGateway } from '../gateway/gateways.ts'
import type { Listener as OurListener } from '../gateway/listener.ts'
import { sortedBy } from '../order.ts'
import { flatMapped, joined } from '../lists.ts'
import { keptList, sameFields, sameList } from '../same.ts'
import { type Sorted, sorted } from '../sorted.ts'
import type { Reach } from '../reach.ts'
import type { RenderedServices, RenderServices } from '../service/rendered-services.ts'
import type { RenderedGateway } from '../translation.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { secretSelector } from './used-secrets.ts'

export interface GatewayParts {
  readonly ours: OurGateway
  readonly routes: readonly Route[]
  readonly tcpRoutes: readonly TCPRoute[]
  readonly reach: Reach
  readonly backends: ReadonlyMap<string, DeliveredBackend>
  /** Those at the Gateway, of each kind of policy. */
  readonly policies: readonly (readonly DeliveredPolicy[])[]
  readonly services: RenderServices
}

/** What policies of every kind have in common here. */
export interface DeliveredPolicy {
  readonly secrets: readonly RenderedSecret[]
  readonly perGateway: ReadonlyMap<string, { readonly policies: readonly Policy[] }>
}

/** The last configuration of a Gateway, and its long lists, each updated with its changes. */
interface GatewayLists {
  readonly sorted: {
    readonly routes: Sorted<Route>
    readonly tcpRoutes: Sorted<TCPRoute>
    readonly services: Sorted<Service>
    readonly policies: Sorted<Policy>
  }
  readonly reachedBackends: (reach: Reach, backends: GatewayParts['backends']) => readonly DeliveredBackend[]
  readonly policies: PartsOfPolicies<Policy>
  readonly secretsOfPolicies: PartsOfPolicies<RenderedSecret>
  readonly selectSecrets: ReturnType<typeof secretSelector>
  last?: { readonly inputs: readonly unknown[]; readonly rendered: RenderedGateway }
}

/** Equal lists, configurations and entries are the same objects as last time. */
export function gatewayRenderer(): (gateways: readonly GatewayParts[]) => Map<string, RenderedGateway> {
  const known = new Map<string, GatewayLists>()
  return (gateways) => {
    const rendered = new Map<string, RenderedGateway>()
    for (const parts of gateways) {
      const { key } = parts.ours
      const lists = known.get(key) ?? emptyLists(key)
      known.set(key, lists)
      rendered.set(key, renderedAfter(lists, parts))
    }
    for (const key of known.keys()) if (!rendered.has(key)) known.delete(key)
    return rendered
  }
}

function emptyLists(gateway: string): GatewayLists {
  return {
    sorted: {
      routes: sorted<Route>(keyOf),
      tcpRoutes: sorted<TCPRoute>(keyOf),
      services: sorted(({ hostname }) => hostname),
      policies: sorted<Policy>(keyOf),
    },
    reachedBackends: backendsOfReach(),
    policies: partsOfPolicies(({ perGateway }) => perGateway.get(gateway)?.policies ?? []),
    secretsOfPolicies: partsOfPolicies(({ secrets }) => secrets),
    selectSecrets: secretSelector(),
  }
}

/** Of all policies of all kinds; the same list while these are the same. */
type PartsOfPolicies<T> = (policies: GatewayParts['policies']) => readonly T[]

function partsOfPolicies<T extends object>(partsOf: (policy: DeliveredPolicy) => readonly T[]): PartsOfPolicies<T> {
  const kinds: ((policies: readonly DeliveredPolicy[]) => readonly T[])[] = []
  const both = joined<T>()
  return (policies) => both(...policies.map((list, kind) => (kinds[kind] ??= flatMapped(partsOf))(list)))
}

function backendsOfReach(): GatewayLists['reachedBackends'] {
  let last: { readonly from: readonly unknown[]; readonly reached: readonly DeliveredBackend[] } | undefined
  return (reach, backends) => {
    const from = [reach.backends, backends]
    if (last === undefined || !isIdentical(last.from, from)) {
      const reached = [...reach.backends].flatMap((key) => backends.get(key) ?? [])
      last = { from, reached: last !== undefined && isIdentical(last.reached, reached) ? last.reached : reached }
    }
    return last.reached
  }
}

function renderedAfter(lists: GatewayLists, parts: GatewayParts): RenderedGateway {
  const { ours, reach, backends, routes, tcpRoutes, policies } = parts
  const { services, workloads } = parts.services({ gateway: ours.gateway, id: lists }, reach.services)
  const reached = lists.reachedBackends(reach, backends)
  const inputs = [ours, reached, routes, tcpRoutes, services, workloads, ...policies]
  if (lists.last === undefined || !isIdentical(lists.last.inputs, inputs)) {
    const rendered = renderGateway({ ...parts, reached, rendered: { services, workloads } }, lists)
    lists.last = { inputs, rendered }
  }
  return lists.last.rendered
}

interface RenderedParts extends GatewayParts {
  readonly reached: readonly DeliveredBackend[]
  readonly rendered: RenderedServices
}

function renderGateway(parts: RenderedParts, lists: GatewayLists): RenderedGateway {
  const { ours, reached } = parts
  const { last, sorted: order } = lists
  const before = last?.rendered
  const listeners = ours.listeners.filter(isRendered)
  const backends = sortedBy(
    reached.flatMap(({ rendered }) => rendered),
    keyOf,
  )
  const { services, workloads } = parts.rendered
  const old = before?.config
  const config = sameFields<RenderedConfig>(old, {
    version: 2,
    binds: sameItems(old?.binds, bindsOf(listeners, ours.internal.ports)),
    listeners: sameItems(old?.listeners, sortedBy(listeners.map(renderListener), keyOf)),
    routes: order.routes.of(parts.routes),
    tcpRoutes: order.tcpRoutes.of(parts.tcpRoutes),
    backends: sameItems(old?.backends, backends),
    // Equal ones are the same objects since they were attached.
    policies: order.policies.of(lists.policies(parts.policies)),
    services: order.services.of(services),
    workloads: old !== undefined && isIdentical(old.workloads, workloads) ? old.workloads : workloads,
  })
  const held = [...listeners, ...reached].flatMap(({ secrets }) => secrets)
  const secrets = lists.selectSecrets({ listeners, backends: config.backends, policies: config.policies }, [
    ...held,
    ...lists.secretsOfPolicies(parts.policies),
    ...(ours.clientCertificate?.secrets ?? []),
  ])
  return sameFields(before, { config, secrets: sameFields<RenderedSecrets>(before?.secrets, { version: 1, secrets }) })
}

function sameItems<T extends { readonly key: string }>(before: T[] | undefined, now: readonly T[]): T[] {
  return sameList(keptList(before ?? [], keyOf), now, keyOf).list
}

function keyOf({ key }: { readonly key: string }): string {
  return key
}

function isProgrammed({ notProgrammed }: OurListener): boolean {
  return notProgrammed === undefined
}

/** A TLS listener that cannot do handshakes is delivered all the same, or another one would answer for its name. */
function isRendered(listener: OurListener): boolean {
  return isProgrammed(listener) || (listener.conflict === undefined && listener.tls?.invalid !== undefined)
}

/** The protocol of the port; absent: HTTP. Listeners of one port are of one family. */
const BIND_PROTOCOL: { readonly [P in Listener['protocol']]: Bind['protocol'] } = {
  HTTP: undefined,
  HTTPS: 'TLS',
  TLS: 'TLS',
  TCP: 'TCP',
  HBONE: 'TLS',
}

function bindsOf(listeners: readonly OurListener[], internal: ReadonlySet<number>): Bind[] {
  const byKey = new Map<string, Bind>()
  for (const { bindKey, spec, protocol: listenerProtocol = 'HTTP' } of listeners) {
    if (byKey.has(bindKey)) continue
    const { port } = spec
    const protocol = BIND_PROTOCOL[listenerProtocol]
    byKey.set(bindKey, {
      key: bindKey,
      port,
      ...(protocol !== undefined && { protocol }),
      ...(internal.has(port) && { mode: 'Internal' as const }),
    })
  }
  return [...byKey.values()].sort((a, b) => a.port - b.port)
}

function renderListener({ key, bindKey, gateway, set, spec, protocol = 'HTTP', tls }: OurListener): Listener {
  return {
    key,
    bindKey,
    name: {
      gatewayName: gateway.metadata.name,
      gatewayNamespace: gateway.metadata.namespace ?? '',
      listenerName: spec.name,
      ...(set !== undefined && { listenerSet: { namespace: set.metadata.namespace ?? '', name: set.metadata.name } }),
    },
    ...(spec.hostname !== undefined && spec.hostname !== '' && { hostname: spec.hostname.toLowerCase() }),
    protocol,
    ...(tls !== undefined && { tls }),
  }
}
