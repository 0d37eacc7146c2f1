// Every setting reaches whatever it is for: for each, what a cluster (or the operator itself) shows of it.
import { afterEach, describe, expect } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, settingsFor, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'
import { LogLevels } from '../admin/log.ts'
import { createMetrics } from '../admin/metrics.ts'
import type { Environment, OperatorSettings } from './settings.ts'
import { firstOf } from '#test/run/table.ts'

type Seen = string | undefined

interface Effect {
  /** Without its prefix. */
  readonly set: Environment
  /** Waited for in the cluster, or read from the settings where it acts in this process alone. */
  readonly shows: (kube: FakeKube, settings: OperatorSettings) => Seen | Promise<Seen>
  readonly unset: Seen
  readonly expected: Seen
}

const CLASSES = 'gatewayclasses.gateway.networking.k8s.io'
const GATEWAYS = 'gateways.gateway.networking.k8s.io'

const conditionOf = (object: FakeObject | undefined, type: string): Seen => {
  const text = JSON.stringify(object?.['status'] ?? {})
  return new RegExp(`\\{[^{}]*"type":"${type}"[^{}]*\\}`).exec(text)?.[0].replace(/.*"reason":"(\w+)".*/, '$1')
}
const route = (kube: FakeKube): FakeObject | undefined =>
  kube.store.get('httproutes.gateway.networking.k8s.io', 'shop/cart')
const container = (kube: FakeKube): string => JSON.stringify(kube.store.get('deployments.apps', 'shop/web') ?? {})
const delivered = (kube: FakeKube): string => JSON.stringify(kube.store.get('configmaps', 'shop/web-config') ?? {})
const watched = (resource: string) => (kube: FakeKube) =>
  kube.requests.some((one) => one.resource === resource) ? 'watched' : 'not watched'

/** The keys are all settings; one that is missing here does not compile. */
const EFFECTS: { readonly [K in SettingName]: Effect } = {
  LOG_LEVEL: {
    set: { GW_LOG_LEVEL: 'debug' },
    shows: (_, { logLevel }) => /translator: (\w+)/.exec(new LogLevels(logLevel).report())?.[1],
    unset: 'info',
    expected: 'debug',
  },
  CONTROLLER_NAME: {
    set: { GW_CONTROLLER_NAME: 'example.com/mine' },
    shows: (kube) => /"controllerName":"([^"]+)"/.exec(JSON.stringify(kube.store.get(CLASSES, '/gw')))?.[1],
    unset: 'gw.dev/controller',
    expected: 'example.com/mine',
  },
  GATEWAY_CLASS_NAME: {
    set: { GW_GATEWAY_CLASS_NAME: 'other' },
    shows: (kube) => kube.store.list(CLASSES)[0]?.metadata.name,
    unset: 'gw',
    expected: 'other',
  },
  GATEWAY_CLASS_PARAMETERS_REFS: {
    set: { GW_GATEWAY_CLASS_PARAMETERS_REFS: '{"gw":{"name":"p","namespace":"infra"}}' },
    shows: (kube) => /"name":"p","namespace":"infra"/.exec(JSON.stringify(kube.store.get(CLASSES, '/gw')))?.[0],
    unset: undefined,
    expected: '"name":"p","namespace":"infra"',
  },
  DISCOVERY_NAMESPACE_SELECTORS: {
    set: { GW_DISCOVERY_NAMESPACE_SELECTORS: '[{"matchLabels":{"team":"none"}}]' },
    shows: (kube) => conditionOf(kube.store.get(GATEWAYS, 'shop/web'), 'Accepted'),
    unset: 'Accepted',
    expected: undefined,
  },
  CLUSTER_DOMAIN: {
    set: { GW_CLUSTER_DOMAIN: 'corp.example' },
    shows: (kube) => /own\.shop\.svc\.([a-z.]+)/.exec(delivered(kube))?.[1],
    unset: 'cluster.local',
    expected: 'corp.example',
  },
  PROXY_IMAGE_REGISTRY: {
    set: { GW_PROXY_IMAGE_REGISTRY: 'r.example' },
    shows: (kube) => /"image":"([^/"]+)\//.exec(container(kube))?.[1],
    unset: 'gw.dev',
    expected: 'r.example',
  },
  PROXY_IMAGE_REPOSITORY: {
    set: { GW_PROXY_IMAGE_REPOSITORY: 'team/gw' },
    shows: (kube) => /"image":"[^/"]+\/([^:"]+):/.exec(container(kube))?.[1],
    unset: 'gw',
    expected: 'team/gw',
  },
  PROXY_IMAGE_TAG: {
    set: { GW_PROXY_IMAGE_TAG: 'v9' },
    shows: (kube) => /"image":"[^"]+:(v9)"/.exec(container(kube))?.[1],
    unset: undefined,
    expected: 'v9',
  },
  BACKEND_REF_GRANT_MODE: {
    set: { GW_BACKEND_REF_GRANT_MODE: 'none' },
    shows: (kube) => conditionOf(route(kube), 'ResolvedRefs'),
    unset: 'RefNotPermitted',
    expected: 'ResolvedRefs',
  },
  HOST_BINDINGS: {
    set: { GW_HOST_BINDINGS: '*.example.com=other' },
    shows: (kube) => conditionOf(kube.store.get('httproutes.gateway.networking.k8s.io', 'shop/own'), 'Accepted'),
    unset: 'Accepted',
    expected: 'HostnameNotPermitted',
  },
  ENABLE_INFER_EXT: {
    set: { GW_ENABLE_INFER_EXT: 'true' },
    shows: watched('inferencepools.inference.networking.k8s.io'),
    unset: 'not watched',
    expected: 'watched',
  },
  NO_LISTENERS_DUMMY_PORT: {
    set: { GW_NO_LISTENERS_DUMMY_PORT: '8443' },
    shows: (kube) => /"port":(\d+)/.exec(JSON.stringify(kube.store.get('services', 'shop/empty') ?? {}))?.[1],
    unset: '443',
    expected: '8443',
  },
  ENABLE_MODELS: {
    set: { GW_ENABLE_MODELS: 'true' },
    shows: watched('gwmodels.gw.dev'),
    unset: 'not watched',
    expected: 'watched',
  },
  ENABLE_EXPERIMENTAL_GATEWAY_API_FEATURES: {
    set: { GW_ENABLE_EXPERIMENTAL_GATEWAY_API_FEATURES: 'false' },
    shows: watched('tcproutes.gateway.networking.k8s.io'),
    unset: 'watched',
    expected: 'not watched',
  },
  ENABLE_BUILTIN_DEFAULT_METRICS: {
    set: { GW_ENABLE_BUILTIN_DEFAULT_METRICS: 'true' },
    shows: async (_, settings) =>
      /nodejs_heap_size_used_bytes/.exec(
        await createMetrics({ ...settings, build: { commit: '', date: '' } }).text(),
      )?.[0],
    unset: undefined,
    expected: 'nodejs_heap_size_used_bytes',
  },
  DISABLE_LEADER_ELECTION: {
    set: { GW_DISABLE_LEADER_ELECTION: 'false' },
    shows: (kube) => kube.store.list('leases.coordination.k8s.io')[0]?.metadata.name,
    unset: undefined,
    expected: 'gw-gw',
  },
  DNS_LOOKUP_FAMILY: {
    set: { GW_DNS_LOOKUP_FAMILY: 'V6_ONLY' },
    shows: (kube) => /"name":"DNS_LOOKUP_FAMILY","value":"(\w+)"/.exec(container(kube))?.[1],
    unset: undefined,
    expected: 'V6_ONLY',
  },
  BACKEND_ALLOW_ADDRESSES: {
    set: { GW_BACKEND_ALLOW_ADDRESSES: '127.0.0.1, fd00::/8' },
    shows: (kube) => /"name":"BACKEND_ALLOW_ADDRESSES","value":"([^"]+)"/.exec(container(kube))?.[1],
    unset: undefined,
    expected: '127.0.0.1,fd00::/8',
  },
  BACKEND_ALLOW_UNIX_PATHS: {
    set: { GW_BACKEND_ALLOW_UNIX_PATHS: '/run/app' },
    shows: (kube) => /"name":"BACKEND_ALLOW_UNIX_PATHS","value":"([^"]+)"/.exec(container(kube))?.[1],
    unset: undefined,
    expected: '/run/app',
  },
  KEY_SET_ALLOW_ADDRESSES: {
    set: { GW_KEY_SET_ALLOW_ADDRESSES: '127.0.0.1' },
    // What it does: key-sets.test.ts.
    shows: (_, settings) => settings.keySetAllowAddresses.join() || undefined,
    unset: undefined,
    expected: '127.0.0.1',
  },
  LISTENER_BIND_IPV6: {
    set: { GW_LISTENER_BIND_IPV6: 'false' },
    shows: (kube) => /"name":"IPV6_ENABLED","value":"(\w+)"/.exec(container(kube))?.[1],
    unset: undefined,
    expected: 'false',
  },
  MESH_AUTO_ENABLED: {
    set: { GW_MESH_AUTO_ENABLED: 'true' },
    shows: (kube) => /istio\.io\/dataplane-mode/.exec(container(kube))?.[0],
    unset: undefined,
    expected: 'istio.io/dataplane-mode',
  },
  MESH_NAMESPACE: {
    set: { GW_MESH_AUTO_ENABLED: 'true', GW_MESH_NAMESPACE: 'infra' },
    shows: trustDomain,
    unset: undefined,
    expected: 'infra.example',
  },
  MESH_REVISION: {
    set: { GW_MESH_AUTO_ENABLED: 'true', GW_MESH_NAMESPACE: 'infra', GW_MESH_REVISION: 'canary' },
    shows: trustDomain,
    unset: undefined,
    expected: 'canary.example',
  },
  MESH_CA_ADDRESS: mesh('CA_ADDRESS', 'https://ca.example:15012'),
  MESH_CLUSTER_ID: mesh('CLUSTER_ID', 'east-1'),
  MESH_NETWORK: mesh('NETWORK', 'net-7'),
  HEALTH_ADDR: address('HEALTH_ADDR', ({ health }) => health),
  METRICS_ADDR: address('METRICS_ADDR', ({ metrics }) => metrics),
  ADMIN_ADDR: address('ADMIN_ADDR', ({ admin }) => admin),
  POD_NAMESPACE: {
    set: { POD_NAMESPACE: 'infra', GW_DISABLE_LEADER_ELECTION: 'false' },
    shows: (kube) => kube.store.list('leases.coordination.k8s.io')[0]?.metadata.namespace,
    unset: undefined,
    expected: 'infra',
  },
}

type SettingName =
  | 'LOG_LEVEL'
  | 'CONTROLLER_NAME'
  | 'GATEWAY_CLASS_NAME'
  | 'GATEWAY_CLASS_PARAMETERS_REFS'
  | 'DISCOVERY_NAMESPACE_SELECTORS'
  | 'CLUSTER_DOMAIN'
  | `PROXY_IMAGE_${'REGISTRY' | 'REPOSITORY' | 'TAG'}`
  | 'BACKEND_REF_GRANT_MODE'
  | 'HOST_BINDINGS'
  | 'NO_LISTENERS_DUMMY_PORT'
  | 'ENABLE_MODELS'
  | 'ENABLE_INFER_EXT'
  | 'ENABLE_EXPERIMENTAL_GATEWAY_API_FEATURES'
  | 'ENABLE_BUILTIN_DEFAULT_METRICS'
  | 'DISABLE_LEADER_ELECTION'
  | 'DNS_LOOKUP_FAMILY'
  | 'LISTENER_BIND_IPV6'
  | `BACKEND_ALLOW_${'ADDRESSES' | 'UNIX_PATHS'}`
  | 'KEY_SET_ALLOW_ADDRESSES'
  | `MESH_${'AUTO_ENABLED' | 'NAMESPACE' | 'REVISION' | 'CA_ADDRESS' | 'CLUSTER_ID' | 'NETWORK'}`
  | `${'HEALTH' | 'METRICS' | 'ADMIN'}_ADDR`
  | 'POD_NAMESPACE'

function trustDomain(kube: FakeKube): string | undefined {
  return /"name":"TRUST_DOMAIN","value":"([\w.]+)"/.exec(container(kube))?.[1]
}

function mesh(name: string, value: string): Effect {
  return {
    set: { GW_MESH_AUTO_ENABLED: 'true', [`GW_MESH_${name}`]: value },
    shows: (kube) => (container(kube).includes(`"${value}"`) ? value : undefined),
    unset: undefined,
    expected: value,
  }
}

function address(name: string, of: (settings: OperatorSettings) => OperatorSettings['admin']): Effect {
  return {
    set: { [`GW_${name}`]: '127.0.0.2:1234' },
    shows: (_, settings) => (of(settings).host === '127.0.0.2' ? `${of(settings).port}` : undefined),
    unset: undefined,
    expected: '1234',
  }
}

let stop: (() => Promise<void>) | undefined

afterEach(async () => {
  await stop?.()
})

const object = (apiVersion: string, kind: string, name: string, rest: object): FakeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'shop' },
  ...rest,
})

/** A Gateway, one without a listener that works, a route to a Service beside it, and one to another namespace. */
function fill({ store }: FakeKube, className: string): void {
  for (const name of ['gw-system', 'infra', 'shop', 'other'])
    store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const [name, domain] of [
    ['istio', 'infra.example'],
    ['istio-canary', 'canary.example'],
  ] as const) {
    const metadata = { name, namespace: 'infra' }
    store.create('configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { mesh: `trustDomain: ${domain}` },
    })
  }
  const api = 'gateway.networking.k8s.io/v1'
  const listener = { name: 'http', port: 80, protocol: 'HTTP' }
  store.create(
    GATEWAYS,
    object(api, 'Gateway', 'web', { spec: { gatewayClassName: className, listeners: [listener] } }),
  )
  const none = { ...listener, protocol: 'example.com/none' }
  store.create(GATEWAYS, object(api, 'Gateway', 'empty', { spec: { gatewayClassName: className, listeners: [none] } }))
  for (const [name, namespace] of [
    ['cart', 'other'],
    ['own', 'shop'],
  ] as const) {
    const service = { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 80 }] } }
    store.create('services', { ...service, metadata: { name, namespace } })
    const rules = [{ backendRefs: [{ name, namespace, port: 80 }] }]
    const spec = { parentRefs: [{ name: 'web' }], hostnames: [`${name}.example.com`], rules }
    store.create('httproutes.gateway.networking.k8s.io', object(api, 'HTTPRoute', name, { spec }))
  }
}

async function seen({ shows }: Effect, environment: Environment): Promise<Seen> {
  const kube = await FakeKube.start()
  const given = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? '']))
  const settings = settingsFor(given, 'host')
  fill(kube, settings.className)
  const running = await testOperator({ config: configFor(kube.url), environment: given })
  stop = async () => {
    await running.stop()
    await kube.stop()
    stop = undefined
  }
  await until('a GatewayClass', () => kube.store.list(CLASSES).length > 0)
  await until('all done', () => running.operator.isLeading() && running.operator.isIdle())
  const value = await shows(kube, settings)
  await stop()
  return value
}

describe('settings of the operator', () => {
  firstOf(10)(Object.entries(EFFECTS))('%s changes what it is for', async (_, effect) => {
    expect(await seen(effect, {})).toBe(effect.unset)
    expect(await seen(effect, effect.set)).toBe(effect.expected)
  })
})
