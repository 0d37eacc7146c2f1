// The operator against an API server in this process: what users see of it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivered } from '#api/delivery/decode.ts'
import { validateObject } from '#api/validate/validate.ts'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import {
  configFor,
  type TestOperator,
  testOperator,
  type TestOperatorOptions,
} from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

let kube: FakeKube
const operators: TestOperator[] = []

beforeEach(async () => {
  kube = await FakeKube.start()
  for (const name of ['gw-system', 'shop'])
    make('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
})

afterEach(async () => {
  for (const one of operators.splice(0)) await one.stop()
  await kube.stop()
})

async function start(options: Partial<TestOperatorOptions> = {}): Promise<TestOperator> {
  const one = await testOperator({ config: configFor(kube.url), ...options })
  operators.push(one)
  return one
}

function make(resource: string, object: FakeObject): FakeObject {
  return kube.store.create(resource, object)
}

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'

function gateway(name = 'web', port = 80): FakeObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
  }
}

function route(name = 'cart', host = 'cart.example.com'): FakeObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'shop' },
    spec: {
      parentRefs: [{ name: 'web' }],
      hostnames: [host],
      rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
    },
  }
}

/** What a proxy would load now. */
function delivered(name = 'web'): Delivered | undefined {
  return deliveryOf(kube.store, 'shop', name)
}

function hosts(): string[] {
  return (delivered()?.config.routes ?? []).flatMap(({ hostnames }) => hostnames ?? [])
}

interface Conditions {
  readonly conditions?: ReadonlyArray<{ type: string; status: string; reason: string; lastTransitionTime: string }>
}

function condition(object: FakeObject | undefined, type: string): string {
  const status = object?.['status'] as (Conditions & { parents?: Conditions[] }) | undefined
  const all = [...(status?.conditions ?? []), ...(status?.parents ?? []).flatMap(({ conditions = [] }) => conditions)]
  const found = all.find((one) => one.type === type)
  return found === undefined ? '' : `${found.status} ${found.reason}`
}

function acknowledge(name: string, change: Record<string, unknown> = {}, to = `${name}-acknowledgements`): void {
  const { index } = delivered(name) ?? {}
  if (index === undefined) throw new Error('nothing delivered')
  const said = {
    generation: index.generation,
    gatewayGeneration: index.gateway.generation,
    gatewayUid: index.gateway.uid,
    revision: 'r',
    ...change,
  }
  const object = kube.store.get('configmaps', `shop/${to}`)
  if (object === undefined) throw new Error('no acknowledgements')
  kube.store.update('configmaps', { ...object, data: { 'web-1': JSON.stringify(said) } }, false)
}

/** As the controllers of a cluster report it. */
function status(resource: string, name: string, value: unknown): void {
  const object = kube.store.get(resource, `shop/${name}`)
  if (object === undefined) throw new Error(`no ${resource} ${name}`)
  kube.store.update(resource, { ...object, status: value }, true)
}

describe('the operator', () => {
  it('creates its GatewayClass, and again when it is deleted', async () => {
    await start()
    const found = (): FakeObject | undefined => kube.store.get('gatewayclasses.gateway.networking.k8s.io', '/gw')
    await until('the class is accepted', () => condition(found(), 'Accepted') === 'True Accepted')
    kube.store.delete('gatewayclasses.gateway.networking.k8s.io', '/gw')
    await until('the class is back', () => condition(found(), 'Accepted') === 'True Accepted')
    expect(found()?.['spec']).toMatchObject({ controllerName: 'gw.dev/controller' })
    // The fake server has no schemas; the real one rejects a class that breaks its own.
    expect(validateObject(found()).problems).toEqual([])
  })

  it('deploys a Gateway, delivers its routes, and sets Programmed when a proxy has them', async () => {
    await start()
    make(GATEWAYS, gateway())
    make('services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { ports: [{ port: 80 }] },
    })
    make(ROUTES, route())
    await until('the route is delivered', () => hosts().includes('cart.example.com'))
    const web = (): FakeObject | undefined => kube.store.get(GATEWAYS, 'shop/web')
    await until('pending', () => condition(web(), 'Programmed') === 'False Pending')
    await until('the Deployment', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    for (const [resource, name] of [
      ['services', 'web'],
      ['serviceaccounts', 'web'],
      ['secrets', 'web-session-key'],
      ['roles.rbac.authorization.k8s.io', 'web'],
      ['configmaps', 'web-acknowledgements'],
    ]) {
      await until(`${resource} ${name}`, () => kube.store.get(resource ?? '', `shop/${name}`) !== undefined)
    }
    acknowledge('web')
    await until('programmed', () => condition(web(), 'Programmed') === 'True Programmed')
    await until(
      'the route is accepted',
      () => condition(kube.store.get(ROUTES, 'shop/cart'), 'Accepted') === 'True Accepted',
    )
    expect(kube.store.list('events')).toEqual([])
  })

  it('waits for an available pod, and forgets the acknowledgement of one that is gone', async () => {
    await start()
    make(GATEWAYS, gateway())
    await until('the Deployment', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('acknowledgements', () => kube.store.get('configmaps', 'shop/web-acknowledgements') !== undefined)
    await until('a delivery', () => delivered() !== undefined)
    status('deployments.apps', 'web', { observedGeneration: 1 })
    const labels = { 'gateway.networking.k8s.io/gateway-name': 'web' }
    make('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'shop', labels } })
    acknowledge('web')
    const web = (): FakeObject | undefined => kube.store.get(GATEWAYS, 'shop/web')
    const message = 'no proxy is ready for traffic yet'
    await until('not ready', () => JSON.stringify(web()).includes(message))
    status('pods', 'web-1', { conditions: [{ type: 'Ready', status: 'True' }] })
    status('deployments.apps', 'web', { observedGeneration: 1, readyReplicas: 1 })
    expect(condition(web(), 'Programmed')).toBe('False Pending')
    status('deployments.apps', 'web', { observedGeneration: 1, readyReplicas: 1, availableReplicas: 1 })
    await until('programmed', () => condition(web(), 'Programmed') === 'True Programmed')
    make('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-2', namespace: 'shop', labels } })
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off' }
    status('pods', 'web-2', { containerStatuses: [{ name: 'gw', image: 'gw:x', ready: false, state: { waiting } }] })
    status('deployments.apps', 'web', { observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 1 })
    const stuck = 'The roll-out is stuck, the former version serves traffic: pod web-2 cannot pull the image gw:x'
    await until('the stuck roll-out', () => JSON.stringify(web()).includes(stuck))
    expect(condition(web(), 'Programmed')).toBe('True Programmed')
    kube.store.delete('pods', 'shop/web-2')
    await until('its end', () => !JSON.stringify(web()).includes('stuck'))
    kube.store.delete('pods', 'shop/web-1')
    const said = (): unknown => kube.store.get('configmaps', 'shop/web-acknowledgements')?.['data']
    await until('its word is gone', () => said() === undefined || Object.keys(said() ?? {}).length === 0)
    expect(condition(web(), 'Programmed')).toBe('True Programmed')
  })

  it('gives many proxies more ConfigMaps for their acknowledgements, and writes their number to the index', async () => {
    await start()
    make(GATEWAYS, gateway())
    await until('the Deployment', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('a delivery', () => delivered() !== undefined)
    expect(delivered()?.index.proxies).toBeUndefined()
    const shard = (number: number): FakeObject | undefined =>
      kube.store.get('configmaps', `shop/web-acknowledgements-${number}`)
    expect(shard(1)).toBeUndefined()
    status('deployments.apps', 'web', { observedGeneration: 1, replicas: 200, availableReplicas: 200 })
    await until('the number', () => delivered()?.index.proxies === 256)
    expect([1, 2, 3, 4].map((number) => shard(number) !== undefined)).toEqual([true, true, true, false])
    const labels = { 'gateway.networking.k8s.io/gateway-name': 'web' }
    make('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'shop', labels } })
    status('pods', 'web-1', { conditions: [{ type: 'Ready', status: 'True' }] })
    // Its acknowledgement before it knew the number.
    acknowledge('web', { generation: 1, gatewayGeneration: 0 })
    acknowledge('web', {}, 'web-acknowledgements-2')
    const web = (): FakeObject | undefined => kube.store.get(GATEWAYS, 'shop/web')
    await until('programmed', () => condition(web(), 'Programmed') === 'True Programmed')
    const said = (): unknown => kube.store.get('configmaps', 'shop/web-acknowledgements')?.['data']
    await until('the earlier one is gone', () => Object.keys(said() ?? {}).length === 0)
    expect(Object.keys(shard(2)?.['data'] ?? {})).toEqual(['web-1'])
  })

  it('waits for no proxy of a DaemonSet that matches no node', async () => {
    await start()
    make('gwparameters.gw.dev', {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { name: 'nodes', namespace: 'shop' },
      spec: { workload: { kind: 'DaemonSet' } },
    })
    const infrastructure = { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: 'nodes' } }
    const object = gateway()
    make(GATEWAYS, { ...object, spec: { ...(object['spec'] as object), infrastructure } })
    await until('the DaemonSet', () => kube.store.get('daemonsets.apps', 'shop/web') !== undefined)
    const web = (): FakeObject | undefined => kube.store.get(GATEWAYS, 'shop/web')
    await until('pending', () => condition(web(), 'Programmed') === 'False Pending')
    status('daemonsets.apps', 'web', { observedGeneration: 1, desiredNumberScheduled: 0 })
    await until('programmed', () => condition(web(), 'Programmed') === 'True Programmed')
    status('daemonsets.apps', 'web', { observedGeneration: 1, desiredNumberScheduled: 1 })
    expect(condition(web(), 'Programmed')).toBe('True Programmed')
  })

  it('writes nothing when nothing changes', async () => {
    const one = await start()
    make(GATEWAYS, gateway())
    make(ROUTES, route())
    await until('the route is delivered', () => hosts().length === 1)
    await until('idle', () => one.operator.isIdle())
    const before = new Map(kube.store.writes)
    const requests = kube.requests.length
    make('endpointslices.discovery.k8s.io', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'other', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'not-used' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.9'] }],
      ports: [{ port: 80 }],
    })
    await until('seen', () => one.operator.cache.count('EndpointSlice') === 1)
    await until('idle again', () => one.operator.isIdle())
    before.set('endpointslices.discovery.k8s.io', 1)
    expect(new Map(kube.store.writes)).toEqual(before)
    expect(kube.requests.slice(requests).filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('rewrites only endpoints when a pod moves', async () => {
    const one = await start()
    make(GATEWAYS, gateway())
    make('services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { ports: [{ port: 80 }] },
    })
    make(ROUTES, route())
    const slice = (address: string): FakeObject => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'cart-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ port: 8080 }],
    })
    make('endpointslices.discovery.k8s.io', slice('10.0.0.1'))
    const addresses = (): string[] => (delivered()?.config.workloads ?? []).flatMap((workload) => workload.addresses)
    await until('the first address', () => addresses().includes('10.0.0.1'))
    await until('idle', () => one.operator.isIdle())
    const version = kube.store.get('configmaps', 'shop/web-config')?.metadata.resourceVersion
    kube.store.update('endpointslices.discovery.k8s.io', slice('10.0.0.2'), false)
    await until('the second address', () => addresses().includes('10.0.0.2'))
    await until('idle', () => one.operator.isIdle())
    expect(kube.store.get('configmaps', 'shop/web-config')?.metadata.resourceVersion).toBe(version)
  })

  it('delivers in the format that all proxies of the Gateway read', async () => {
    await start()
    make(GATEWAYS, gateway())
    make(ROUTES, route())
    const format = (): number => {
      return (hosts().length === 1 && delivered()?.index.format) || 0
    }
    await until('chunks', () => format() === 2)
    acknowledge('web')
    await until('documents, for a proxy that says nothing of chunks', () => format() === 1)
    acknowledge('web', { reads: 2 })
    await until('chunks again', () => format() === 2)
    expect(hosts()).toEqual(['cart.example.com'])
  })

  it('restores objects that another client deletes or changes', async () => {
    const one = await start()
    make(GATEWAYS, gateway())
    make(ROUTES, route())
    await until('the route is delivered', () => hosts().length === 1)
    await until('the Deployment', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('idle', () => one.operator.isIdle())
    kube.store.delete('configmaps', 'shop/web-config')
    kube.store.delete('services', 'shop/web')
    await until('the delivery is back', () => hosts().length === 1)
    await until('the Service is back', () => kube.store.get('services', 'shop/web') !== undefined)
    const config = kube.store.get('configmaps', 'shop/web-config')
    kube.store.update('configmaps', { ...(config as FakeObject), data: { 'index.json': '{}' } }, false)
    await until('the delivery is whole again', () => hosts().length === 1)
    expect(hosts()).toEqual(['cart.example.com'])
  })

  it('does not touch objects of others that have a name of a delivery', async () => {
    make('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'web-secrets', namespace: 'shop' },
      data: { a: 'Yg==' },
    })
    await start()
    make(GATEWAYS, gateway())
    const web = (): FakeObject | undefined => kube.store.get(GATEWAYS, 'shop/web')
    await until('the Gateway reports it', () => condition(web(), 'Programmed') === 'False DeploymentFailed')
    expect(kube.store.get('secrets', 'shop/web-secrets')?.['data']).toEqual({ a: 'Yg==' })
  })

  it('keeps status entries of others and removes its own when the route detaches', async () => {
    await start()
    make(GATEWAYS, gateway())
    const cart = make(ROUTES, route())
    const foreign = { controllerName: 'other/one', parentRef: { name: 'theirs' }, conditions: [] }
    kube.store.update(ROUTES, { ...cart, status: { parents: [foreign] } }, true)
    const parents = (): unknown[] =>
      (kube.store.get(ROUTES, 'shop/cart')?.['status'] as { parents?: unknown[] } | undefined)?.parents ?? []
    await until('two entries', () => parents().length === 2)
    const now = kube.store.get(ROUTES, 'shop/cart') as FakeObject
    kube.store.update(ROUTES, { ...now, spec: { ...(now['spec'] as object), parentRefs: [{ name: 'theirs' }] } }, false)
    await until('one entry', () => parents().length === 1)
    expect(parents()).toEqual([foreign])
  })

  it('reports proxies without a certificate of their mesh until they have one', async () => {
    await start()
    make(GATEWAYS, gateway())
    await until('delivered', () => delivered() !== undefined)
    const mesh = (): string => condition(kube.store.get(GATEWAYS, 'shop/web'), 'gw.dev/MeshUnavailable')
    acknowledge('web', { meshTrouble: 'it has no certificate' })
    await until('the condition', () => mesh() === 'True MeshNotServed')
    const programmed = (): string => condition(kube.store.get(GATEWAYS, 'shop/web'), 'Programmed')
    await until('programmed all the same', () => programmed() === 'True Programmed')
    expect(mesh()).toBe('True MeshNotServed')
    acknowledge('web')
    await until('its end', () => mesh() === '')
  })

  it('writes one Event for a rejected configuration', async () => {
    const one = await start()
    make(GATEWAYS, gateway())
    await until('delivered', () => delivered() !== undefined)
    await until('idle', () => one.operator.isIdle())
    acknowledge('web', { generation: 0, gatewayUid: '', rejected: { generation: 1, message: 'no such port' } })
    await until('the Event', () => kube.store.list('events').length === 1)
    await until('idle', () => one.operator.isIdle())
    acknowledge('web', {
      generation: 0,
      gatewayUid: '',
      revision: 'q',
      rejected: { generation: 1, message: 'no such port' },
    })
    await until('idle', () => one.operator.isIdle())
    expect(kube.store.list('events')).toMatchObject([
      { reason: 'GwNackError', type: 'Warning', message: 'web-1: no such port', involvedObject: { name: 'web' } },
    ])
    const web = kube.store.get(GATEWAYS, 'shop/web')
    expect(condition(web, 'Programmed')).toBe('False Invalid')
  })

  it('waits for missing CRDs', async () => {
    await kube.stop()
    kube = await FakeKube.start({ absent: ['gwpolicies.gw.dev', ROUTES] })
    const one = await start()
    await until('ready', () => one.operator.isReady())
    make(GATEWAYS, gateway())
    make(ROUTES, route())
    kube.serveResource(ROUTES)
    await until('the route is delivered', () => hosts().length === 1)
    expect(one.operator.pending()).toEqual([])
  })

  it('follows namespaces that come and go by their labels', async () => {
    const selectors = JSON.stringify([{ matchLabels: { gw: 'yes' } }])
    const one = await start({ environment: { GW_DISCOVERY_NAMESPACE_SELECTORS: selectors } })
    make(GATEWAYS, gateway())
    make(ROUTES, route())
    await until('ready', () => one.operator.isReady())
    await until('idle', () => one.operator.isIdle())
    expect(one.operator.cache.count('Gateway')).toBe(0)
    const shop = kube.store.get('namespaces', '/shop') as FakeObject
    kube.store.update('namespaces', { ...shop, metadata: { ...shop.metadata, labels: { gw: 'yes' } } }, false)
    await until('the route is delivered', () => hosts().length === 1)
    const now = kube.store.get('namespaces', '/shop') as FakeObject
    kube.store.update('namespaces', { ...now, metadata: { ...now.metadata, labels: {} } }, false)
    await until('forgotten', () => one.operator.cache.count('Gateway') === 0)
  })
})
