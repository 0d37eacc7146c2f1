// The answer of `/config_dump` in the shape of the resources supplement, section 4.3: listeners and routes nested under
// their binds, everything else beside them. Pure; never holds secret material.
import { redactTree } from '#api/credentials/redact-tree.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type {
  BackendReference,
  Bind,
  Listener,
  Policy,
  RenderedConfig,
  Route,
  RouteBackend,
  TCPRoute,
} from '#api/ir/types.gen.ts'
import type { components } from '#api/admin/types.gen.ts'
import type { Locality } from '../backend/locality.ts'
import { indexPolicies, placeOf, type PolicyIndex } from '../policy/policy-index.ts'
import { effectiveFrontend } from '../policy/merge-backend.ts'
import { withOwnTunnel } from '../policy/own-tunnel.ts'
import { dumpBackends } from './config-dump-backends.ts'
import { dumpServices, dumpWorkloads } from './config-dump-services.ts'
import { dumpInline } from './dump-inline.ts'
import type { FiguresOf } from './endpoint-info.ts'

type Schemas = components['schemas']
type Dump = Record<string, unknown>

export interface ConfigDumpInput {
  /** undefined: nothing was applied yet. */
  readonly config: RenderedConfig | undefined
  /** Live figures of endpoints. */
  readonly figures: FiguresOf
  readonly certificates: Schemas['ConfigDump']['certificates']
  readonly credentials: Schemas['ConfigDump']['credentials']
  readonly listenAddress: string
  /** Where the proxy is, as far as its settings say. */
  readonly place: Locality
  readonly version: Readonly<Record<string, string>>
  /** Effective process settings, without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
}

const EMPTY: RenderedConfig = emptyConfig()

export function configDump({
  config = EMPTY,
  figures,
  certificates,
  credentials,
  listenAddress,
  place,
  version,
  settings,
}: ConfigDumpInput): Schemas['ConfigDump'] {
  const routesOf = Map.groupBy(config.routes, (route) => route.listenerKey ?? '')
  const tcpRoutesOf = Map.groupBy(config.tcpRoutes, (route) => route.listenerKey)
  const listenersOf = Map.groupBy(config.listeners, (listener) => listener.bindKey)
  const policies = indexPolicies(config.policies)
  const dumpListener = (listener: Listener): Schemas['DumpListener'] => ({
    ...listenerHead(listener),
    routes: byKey(routesOf.get(listener.key) ?? [], dumpRoute),
    tcpRoutes: byKey(tcpRoutesOf.get(listener.key) ?? [], dumpTcpRoute),
  })
  const dump = {
    binds: config.binds.map((bind) => ({
      ...bindHead(bind, listenAddress),
      tunnelProtocol: tunnelProtocol(bind, listenersOf.get(bind.key)?.[0], policies),
      listeners: byKey(listenersOf.get(bind.key) ?? [], dumpListener),
    })),
    routes: { httpMesh: {}, tcpMesh: {}, routeGroups: routeGroups(config.routes) },
    policies: config.policies.toSorted(compareKeys).map(dumpPolicy),
    backends: dumpBackends(config, figures),
    services: dumpServices({ config, figures, place }),
    workloads: dumpWorkloads(config.workloads),
  }
  return { ...redactTree(dump), certificates, credentials, version: { ...version }, config: { ...settings } }
}

const BIND_PROTOCOLS = { HTTP: 'http', TLS: 'tls', TCP: 'tcp' } as const

export function bindHead(bind: Bind, listenAddress: string): Omit<Schemas['DumpBind'], 'tunnelProtocol' | 'listeners'> {
  const host = listenAddress.includes(':') ? `[${listenAddress}]` : listenAddress
  return {
    key: bind.key,
    address: `${host}:${bind.port}`,
    protocol: BIND_PROTOCOLS[bind.protocol ?? 'HTTP'],
    mode: bind.mode === 'Internal' ? 'internal' : 'standard',
  }
}

/** What carries the connections of the port; the outermost of several. Its policies are those of its first listener. */
function tunnelProtocol(
  bind: Bind,
  listener: Listener | undefined,
  policies: PolicyIndex,
): Schemas['DumpBind']['tunnelProtocol'] {
  if (listener === undefined) return 'direct'
  if (listener.protocol === 'HBONE') return 'hboneGateway'
  const { port } = bind
  const { proxyProtocol, connect } = withOwnTunnel(bind, effectiveFrontend(policies, placeOf({ ...listener, port })))
  if (proxyProtocol !== undefined) return 'proxy'
  return connect?.mode === 'Tunnel' ? 'connect' : 'direct'
}

export function listenerHead(listener: Listener): Omit<Schemas['DumpListener'], 'routes' | 'tcpRoutes'> {
  const { key, name, hostname, protocol, tls } = listener
  const isTls = protocol === 'HTTPS' || protocol === 'TLS'
  return {
    key,
    gatewayName: name.gatewayName,
    gatewayNamespace: name.gatewayNamespace,
    listenerName: name.listenerName,
    ...(name.listenerSet === undefined ? {} : { listenerSet: { ...name.listenerSet } }),
    hostname: hostname ?? '',
    protocol: isTls ? { [protocol]: null } : protocol,
    ...(tls?.invalid === undefined ? {} : { invalid: tls.invalid }),
  }
}

function dumpRoute(route: Route): Schemas['DumpRoute'] {
  const { key, name, hostnames, matches, backends, inlinePolicies } = route
  return {
    key,
    name: name.name,
    namespace: name.namespace,
    ...(name.ruleName === undefined ? {} : { ruleName: name.ruleName }),
    kind: name.kind,
    ...filled('hostnames', hostnames),
    ...filled('matches', matches),
    ...filled('backends', backends.map(dumpRouteBackend)),
    ...dumpInline(inlinePolicies),
  }
}

function dumpTcpRoute(route: TCPRoute): Schemas['DumpTcpRoute'] {
  return {
    key: route.key,
    name: route.name.name,
    namespace: route.name.namespace,
    ...filled('hostnames', route.hostnames),
    ...filled('backends', route.backends.map(dumpRouteBackend)),
  }
}

function dumpRouteBackend({ weight, ref, inlinePolicies }: RouteBackend): Schemas['DumpRouteBackend'] {
  return { weight, ...dumpReference(ref), ...dumpInline(inlinePolicies) }
}

function dumpReference(ref: BackendReference): Omit<Schemas['DumpRouteBackend'], 'weight'> {
  const { service, invalid, ...rest } = ref
  return {
    ...rest,
    ...(invalid === undefined ? {} : { invalid: { ...invalid } }),
    ...(service === undefined
      ? {}
      : { service: { name: `${service.namespace}/${service.hostname}`, port: service.port } }),
  }
}

function dumpPolicy({ key, name, target, phase, inheritance, policy }: Policy): Schemas['DumpPolicy'] {
  const { service, backend } = target
  const isBackend = service !== undefined || backend !== undefined
  const gatewayPhase = phase === 'PreRouting' ? { phase: 'gateway' } : {}
  return {
    key,
    name,
    target: isBackend ? { backend: service === undefined ? { backend } : { service } } : { ...target },
    ...(inheritance === undefined ? {} : { inheritance: 'override' }),
    policy: policy.traffic === undefined ? { ...policy } : { traffic: { ...policy.traffic, ...gatewayPhase } },
  }
}

function routeGroups(routes: readonly Route[]): Dump {
  const delegated = routes.filter((route) => route.routeGroupKey !== undefined)
  const groups = Map.groupBy(delegated, (route) => route.routeGroupKey ?? '')
  return Object.fromEntries([...groups].map(([key, members]) => [key, byKey(members, dumpRoute)]))
}

function byKey<T extends { readonly key: string }, D>(items: readonly T[], dump: (item: T) => D): Record<string, D> {
  return Object.fromEntries(items.map((item) => [item.key, dump(item)]))
}

/** Empty lists are left out. */
function filled<T>(name: string, list: readonly T[]): Record<string, T[]> {
  return list.length === 0 ? {} : { [name]: [...list] }
}

function compareKeys(a: { readonly key: string }, b: { readonly key: string }): number {
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}
