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
import { compareText, sortedBy } from '../order.ts'
import { flatMapped, joined } from '../lists.ts'
import { isSameInOrder, keptList, sameFields, sameList } from '../same.ts'
import { type Sorted, sorted, sortedParts, type SortedParts } from '../sorted.ts'
import { NOTHING_REACHED, type Reach } from '../reach.ts'
import type { RoutesOfGateway } from '../route/placed-routes.ts'
import type { RenderedServices, RenderServices } from '../service/rendered-services.ts'
import type { RenderedGateway } from '../translation.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { secretSelector } from './used-secrets.ts'

/** By Gateway, but for what is the same for all. Each is the same object while nothing in it has changed. */
export interface PartsOfGateways {
  readonly gateways: ReadonlyMap<string, OurGateway>
  readonly lists: ReadonlyMap<string, RoutesOfGateway>
  readonly reach: ReadonlyMap<string, Reach>
  readonly backends: ReadonlyMap<string, DeliveredBackend>
  readonly policies: GroupedPolicies
  readonly services: RenderServices
}

export interface GroupedPolicies {
  /** Grows by one with each change. */
  readonly version: number
  /** Keys of the Gateways that other policies reach than in the version before. */
  readonly changed: ReadonlySet<string>
  /** Those at the Gateway, of each kind of policy. */
  readonly at: (gateway: string) => PoliciesOfGateway
}

type PoliciesOfGateway = readonly (readonly DeliveredPolicy[])[]

/** What the configuration of one Gateway depends on. */
interface GatewayInputs {
  readonly ours: OurGateway
  readonly lists: RoutesOfGateway
  readonly policies: PoliciesOfGateway
  readonly reached: readonly DeliveredBackend[]
  readonly services: RenderedServices
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
    readonly policies: SortedParts<DeliveredPolicy, Policy>
  }
  readonly reachedBackends: (reach: Reach, backends: PartsOfGateways['backends']) => readonly DeliveredBackend[]
  readonly secretsOfPolicies: (policies: PoliciesOfGateway) => readonly RenderedSecret[]
  readonly selectSecrets: ReturnType<typeof secretSelector>
  last?: { readonly inputs: GatewayInputs; readonly rendered: RenderedGateway }
}

/** Keys of the Gateways that reach the Service with this host name. */
type Reaching = (hostname: string) => readonly string[]

type RenderedGateways = ReadonlyMap<string, RenderedGateway>

/**
 * Equal lists, configurations and entries are the same objects as last time, and so is the whole. Of thousands of
 * Gateways only those with a changed part are looked at.
 */
export function gatewayRenderer(): (parts: PartsOfGateways, reaching: Reaching) => RenderedGateways {
  const known = new Map<string, GatewayLists>()
  /** Gateways whose endpoints are those of other Services and of their own proxies. */
  const readingProxies = new Set<string>()
  let last: { readonly parts: PartsOfGateways; readonly rendered: RenderedGateways } | undefined
  const renderOne = (key: string, ours: OurGateway, parts: PartsOfGateways): RenderedGateway => {
    let lists = known.get(key)
    if (lists === undefined) known.set(key, (lists = emptyLists(key)))
    const rendered = renderedAfter(lists, ours, parts)
    if (lists.last?.inputs.services.areProxiesRead === true) readingProxies.add(key)
    else readingProxies.delete(key)
    return rendered
  }
  const renderAll = (parts: PartsOfGateways): RenderedGateways => {
    const rendered = new Map<string, RenderedGateway>()
    for (const [key, ours] of parts.gateways) rendered.set(key, renderOne(key, ours, parts))
    for (const key of known.keys()) {
      if (rendered.has(key)) continue
      known.delete(key)
      readingProxies.delete(key)
    }
    return last !== undefined && isSameInOrder(last.rendered, rendered) ? last.rendered : rendered
  }
  const renderSome = (
    before: RenderedGateways,
    keys: ReadonlySet<string>,
    parts: PartsOfGateways,
  ): RenderedGateways => {
    const changed = [...keys].flatMap((key) => {
      const ours = parts.gateways.get(key)
      const now = ours && renderOne(key, ours, parts)
      return now === undefined || now === before.get(key) ? [] : [[key, now] as const]
    })
    if (changed.length === 0) return before
    const rendered = new Map(before)
    for (const [key, one] of changed) rendered.set(key, one)
    return rendered
  }
  return (parts, reaching) => {
    const touched = last && touchedGateways(last.parts, parts, { reaching, readingProxies })
    const rendered =
      last === undefined || touched === undefined ? renderAll(parts) : renderSome(last.rendered, touched, parts)
    last = { parts, rendered }
    return rendered
  }
}

interface ServiceUsers {
  readonly reaching: Reaching
  readonly readingProxies: ReadonlySet<string>
}

/** The keys with other values. False: other keys, or in another order. */
function addChanged(
  touched: Set<string>,
  before: ReadonlyMap<string, unknown>,
  now: ReadonlyMap<string, unknown>,
): boolean {
  if (before === now) return true
  if (before.size !== now.size) return false
  const others = before.keys()
  for (const [key, one] of now) {
    if (others.next().value !== key) return false
    if (before.get(key) !== one) touched.add(key)
  }
  return true
}

/** Keys of Gateways with a changed part; undefined: any may have one. */
function touchedGateways(
  before: PartsOfGateways,
  now: PartsOfGateways,
  { reaching, readingProxies }: ServiceUsers,
): ReadonlySet<string> | undefined {
  if (before.backends !== now.backends) return undefined
  const policyVersions = now.policies.version - before.policies.version
  if (policyVersions > 1) return undefined
  const touched = new Set<string>(policyVersions === 0 ? [] : now.policies.changed)
  for (const part of ['gateways', 'lists', 'reach'] as const) {
    if (!addChanged(touched, before[part], now[part])) return undefined
  }
  if (before.services === now.services) return touched
  const hostnames = now.services.changedSince(before.services)
  if (hostnames === undefined) return undefined
  for (const hostname of hostnames) for (const key of reaching(hostname)) touched.add(key)
  for (const key of readingProxies) touched.add(key)
  return touched
}

function emptyLists(gateway: string): GatewayLists {
  return {
    sorted: {
      routes: sorted<Route>(keyOf),
      tcpRoutes: sorted<TCPRoute>(keyOf),
      services: sorted(({ hostname }) => hostname),
      policies: sortedParts(({ perGateway }) => perGateway.get(gateway)?.policies ?? [], keyOf),
    },
    reachedBackends: backendsOfReach(),
    secretsOfPolicies: secretsOfPolicies(),
    selectSecrets: secretSelector(),
  }
}

/** Of all policies of all kinds; the same list while these are the same. */
function secretsOfPolicies(): GatewayLists['secretsOfPolicies'] {
  const kinds: ((policies: readonly DeliveredPolicy[]) => readonly RenderedSecret[])[] = []
  const both = joined<RenderedSecret>()
  return (policies) =>
    both(...policies.map((list, kind) => (kinds[kind] ??= flatMapped(({ secrets }: DeliveredPolicy) => secrets))(list)))
}

function backendsOfReach(): GatewayLists['reachedBackends'] {
  let last: { readonly from: readonly unknown[]; readonly reached: readonly DeliveredBackend[] } | undefined
  return (reach, backends) => {
    if (last === undefined || last.from[0] !== reach.backends || last.from[1] !== backends) {
      const from = [reach.backends, backends]
      // By key: a history has no effect on the result.
      const keys = [...reach.backends.entries()].map(([key]) => key).sort(compareText)
      const reached = keys.flatMap((key) => backends.get(key) ?? [])
      last = { from, reached: last !== undefined && isIdentical(last.reached, reached) ? last.reached : reached }
    }
    return last.reached
  }
}

function renderedAfter(lists: GatewayLists, ours: OurGateway, parts: PartsOfGateways): RenderedGateway {
  const { key } = ours
  const reach = parts.reach.get(key) ?? NOTHING_REACHED
  const inputs: GatewayInputs = {
    ours,
    lists: parts.lists.get(key) ?? NO_ROUTES,
    policies: parts.policies.at(key),
    reached: lists.reachedBackends(reach, parts.backends),
    services: parts.services.of({ gateway: ours.gateway, id: lists }, reach.services),
  }
  if (lists.last === undefined || !areSame(lists.last.inputs, inputs)) {
    lists.last = { inputs, rendered: renderGateway(inputs, lists) }
  }
  return lists.last.rendered
}

const NO_ROUTES: RoutesOfGateway = { routes: [], tcpRoutes: [] }

/** For each of thousands of Gateways: makes no objects. */
function areSame(a: GatewayInputs, b: GatewayInputs): boolean {
  return (
    a.ours === b.ours &&
    a.reached === b.reached &&
    (a.lists === b.lists || (a.lists.routes === b.lists.routes && a.lists.tcpRoutes === b.lists.tcpRoutes)) &&
    (a.services === b.services ||
      (a.services.services === b.services.services && a.services.workloads === b.services.workloads)) &&
    isIdentical(a.policies, b.policies)
  )
}

function renderGateway(parts: GatewayInputs, lists: GatewayLists): RenderedGateway {
  const { ours, reached } = parts
  const { last, sorted: order } = lists
  const before = last?.rendered
  const listeners = ours.listeners.filter(isRendered)
  const backends = sortedBy(
    reached.flatMap(({ rendered }) => rendered),
    keyOf,
  )
  const { services, workloads } = parts.services
  const old = before?.config
  const config = sameFields<RenderedConfig>(old, {
    version: 2,
    binds: sameItems(old?.binds, bindsOf(listeners, ours.internal.ports)),
    listeners: sameItems(old?.listeners, sortedBy(listeners.map(renderListener), keyOf)),
    routes: order.routes.of(parts.lists.routes),
    tcpRoutes: order.tcpRoutes.of(parts.lists.tcpRoutes),
    backends: sameItems(old?.backends, backends),
    // Equal ones are the same objects since they were attached.
    policies: order.policies.of(...parts.policies),
    services: order.services.of(services),
    workloads: old !== undefined && isIdentical(old.workloads, workloads) ? old.workloads : workloads,
  })
  const secrets = lists.selectSecrets(
    { listeners, backends: config.backends, policies: config.policies },
    [...listeners, ...reached].flatMap((one) => one.secrets),
    lists.secretsOfPolicies(parts.policies),
    ours.clientCertificate?.secrets ?? [],
  )
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
