// What a whole operator delivers to proxies about endpoints nearby: from Nodes, Services and EndpointSlices of an API
// server to the configuration that proxies load.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RenderedConfig, Workload } from '#api/ir/types.gen.ts'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const REGION = 'topology.kubernetes.io/region'
const ZONE = 'topology.kubernetes.io/zone'

let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  kube = await FakeKube.start()
  operator = await testOperator({ config: configFor(kube.url) })
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
})

interface Body extends Readonly<Record<string, unknown>> {
  readonly kind: string
  readonly metadata: FakeObject['metadata']
}

function make(resource: string, object: Body, apiVersion = 'v1'): void {
  kube.store.create(resource, { ...object, apiVersion })
}

function node(name: string, zone: string): FakeObject {
  const labels = { [REGION]: 'r', [ZONE]: zone }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { podCIDR: '10.0.0.0/24' }, status: {} }
}

function slice(service: string, endpoints: readonly object[]): void {
  const labels = { 'kubernetes.io/service-name': service }
  const metadata = { name: `${service}-1`, namespace: 'shop', labels }
  const ports = [{ name: 'http', port: 8080 }]
  make(
    'endpointslices.discovery.k8s.io',
    { kind: 'EndpointSlice', metadata, addressType: 'IPv4', ports, endpoints },
    'discovery.k8s.io/v1',
  )
}

/** What a proxy would load now. */
const delivered = (): RenderedConfig | undefined => deliveryOf(kube.store, 'shop', 'web')?.config

const workload = (uid: string): Workload | undefined => delivered()?.workloads.find((one) => one.uid === uid)

it('delivers the places of endpoints and of the proxies themselves, and follows Nodes', async () => {
  make('namespaces', { kind: 'Namespace', metadata: { name: 'shop' } })
  for (const one of [node('n1', 'za'), node('n2', 'zb')]) kube.store.create('nodes', one)
  make('services', {
    kind: 'Service',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { trafficDistribution: 'PreferSameZone', ports: [{ name: 'http', port: 80 }] },
  })
  const hints = { forZones: [{ name: 'za' }] }
  const endpoint = { addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', name: 'cart-1' }, nodeName: 'n1', zone: 'za' }
  slice('cart', [{ ...endpoint, hints }])
  const gatewayApi = 'gateway.networking.k8s.io/v1'
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  make(
    'gateways.gateway.networking.k8s.io',
    { kind: 'Gateway', metadata: { name: 'web', namespace: 'shop' }, spec: { gatewayClassName: 'gw', listeners } },
    gatewayApi,
  )
  const rules = [{ backendRefs: [{ name: 'cart', port: 80 }] }]
  make(
    'httproutes.gateway.networking.k8s.io',
    {
      kind: 'HTTPRoute',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { parentRefs: [{ name: 'web' }], rules },
    },
    gatewayApi,
  )
  await until('the Service of the Gateway', () => kube.store.get('services', 'shop/web') !== undefined)
  // As Kubernetes does for the Pods of the Deployment.
  const { spec } = kube.store.get('services', 'shop/web') as { spec?: { ports: { name: string }[] } } & FakeObject
  expect(spec?.ports.map(({ name }) => name)).not.toEqual([])
  const labels = { 'kubernetes.io/service-name': 'web' }
  make(
    'endpointslices.discovery.k8s.io',
    {
      kind: 'EndpointSlice',
      metadata: { name: 'web-1', namespace: 'shop', labels },
      addressType: 'IPv4',
      ports: (spec?.ports ?? []).map(({ name }) => ({ name, port: 80 })),
      endpoints: [{ addresses: ['10.0.0.9'], targetRef: { kind: 'Pod', name: 'web-1' }, nodeName: 'n2', zone: 'zb' }],
    },
    'discovery.k8s.io/v1',
  )
  await until('the place of the proxy', () => workload('shop/web-1')?.region === 'r')
  expect(workload('shop/web-1')).toMatchObject({ node: 'n2', region: 'r', zone: 'zb', services: [] })
  expect(workload('shop/cart-1')).toMatchObject({
    node: 'n1',
    region: 'r',
    zone: 'za',
    services: [{ hostname: 'cart.shop.svc.cluster.local', forZones: ['za'] }],
  })
  expect(delivered()?.services).toMatchObject([{ locality: { preferences: ['Region', 'Zone'], mode: 'Failover' } }])

  const labelled = { ...node('n1', 'za'), metadata: { name: 'n1', labels: { [REGION]: 's', [ZONE]: 'za' } } }
  kube.store.update('nodes', labelled, false)
  await until('the new region', () => workload('shop/cart-1')?.region === 's')
  expect(workload('shop/web-1')?.region).toBe('r')
})
