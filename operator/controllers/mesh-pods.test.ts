// Which endpoints a whole operator delivers as workloads of a mesh: from Pods of an API server to the configuration
// that proxies load. Pods are read only for Gateways of a mesh.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Workload } from '#api/ir/types.gen.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io'
const MESH = { spec: { meshIntegration: {} } }

let kube: FakeKube
let operator: TestOperator | undefined

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  make('services', 'v1', 'Service', 'cart', { spec: { ports: [{ name: 'http', port: 80 }] } })
  const spec = { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] }
  make(`gateways.${GATEWAY_API}`, `${GATEWAY_API}/v1`, 'Gateway', 'web', { spec })
  const rules = [{ backendRefs: [{ name: 'cart', port: 80 }] }]
  make(`httproutes.${GATEWAY_API}`, `${GATEWAY_API}/v1`, 'HTTPRoute', 'cart', {
    spec: { parentRefs: [{ name: 'web' }], rules },
  })
  kube.store.create('endpointslices.discovery.k8s.io', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'cart-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: ['a', 'b'].map((name, at) => ({ addresses: [`10.0.0.${at}`], targetRef: { kind: 'Pod', name } })),
  })
  kube.store.create('pods', pod('a', 'enabled'))
  kube.store.create('pods', pod('b', 'pending'))
})

afterEach(async () => {
  await operator?.stop()
  await kube.stop()
})

async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  operator = await testOperator({ config: configFor(kube.url), environment })
}

function make(resource: string, apiVersion: string, kind: string, name: string, rest: object): void {
  kube.store.create(resource, { apiVersion, kind, metadata: { name, namespace: 'shop' }, ...rest })
}

const makeParameters = (): void => make('gwparameters.gw.dev', 'gw.dev/v1alpha1', 'GwParameters', 'mesh', MESH)

function pod(name: string, redirection: string): FakeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', annotations: { 'ambient.istio.io/redirection': redirection } },
    spec: { serviceAccountName: 'cart', containers: [{ name: 'cart', image: 'cart' }] },
  }
}

const workload = (name: string): Workload | undefined =>
  deliveryOf(kube.store, 'shop', 'web')?.config.workloads.find(({ uid }) => uid === `shop/${name}`)
const kept = (): string[] => [...(operator?.operator.cache.all('Pod') ?? [])].map(({ metadata }) => metadata.name)
const wasRead = (): boolean =>
  kube.requests.some(({ resource, query }) => resource === 'pods' && !query.has('labelSelector'))

describe('workloads of a mesh', () => {
  it('are delivered with their identity, and follow their Pods', async () => {
    makeParameters()
    await start()
    await until('the workloads', () => workload('a') !== undefined)
    expect(workload('a')).toMatchObject({ protocol: 'HBONE', serviceAccount: 'cart' })
    expect(workload('b')).not.toHaveProperty('protocol')
    expect(kept()).toEqual(['a'])

    kube.store.update('pods', pod('b', 'enabled'), false)
    await until('the second one', () => workload('b')?.protocol === 'HBONE')
    kube.store.update('pods', pod('a', 'disabled'), false)
    await until('the first one to leave', () => workload('a')?.protocol === undefined)
    expect(kept()).toEqual(['b'])
  })

  it('cost nothing until parameters ask for a mesh', async () => {
    await start()
    await until('the workloads', () => workload('a') !== undefined)
    expect(workload('a')).not.toHaveProperty('protocol')
    expect(wasRead()).toBe(false)
    makeParameters()
    await until('the workload of the mesh', () => workload('a')?.protocol === 'HBONE')
  })

  it.each([
    ['parameters', makeParameters, {}],
    ['settings of the controller', () => undefined, { GW_MESH_AUTO_ENABLED: 'true' }],
  ])('are known before the first delivery if %s enable the mesh', async (_, prepare, environment) => {
    prepare()
    let isOpen = false
    kube.fault = ({ resource, query }) =>
      resource === 'pods' && !query.has('labelSelector') && !isOpen ? { kind: 'status', status: 500 } : undefined
    await start(environment)
    await until('the Pods are what is missing', () => operator?.operator.pending().join() === 'Pod')
    expect(kube.store.get('configmaps', 'shop/web-config')).toBeUndefined()
    isOpen = true
    await until('the workloads', () => workload('a') !== undefined)
    expect(workload('a')).toMatchObject({ protocol: 'HBONE' })
  })

  it('are read together with members of InferencePools', async () => {
    makeParameters()
    await start({ GW_ENABLE_INFER_EXT: 'true' })
    await until('the workloads', () => workload('a') !== undefined)
    expect(workload('a')).toMatchObject({ protocol: 'HBONE', serviceAccount: 'cart' })
    expect(kept().sort()).toEqual(['a', 'b'])
  })
})
