// Changes of users in a small cluster, by seed: two Gateways, routes of two namespaces, Services with endpoints,
// Secrets, policies, grants; created, changed and removed in any order. For tests only.
import { pick, type RandomNumbers, randomOf } from '../random.ts'
import type { FakeObject, Store } from './store.ts'

export type Step = (store: Store) => void

export const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const CLASSES = 'gatewayclasses.gateway.networking.k8s.io'
export const ROUTES = 'httproutes.gateway.networking.k8s.io'
export const SLICES = 'endpointslices.discovery.k8s.io'
export const POLICIES = 'gwpolicies.gw.dev'
export const GRANTS = 'referencegrants.gateway.networking.k8s.io'

export const NAMESPACE = 'shop'
export const GATEWAY_NAMES = ['web', 'api'] as const
const OTHER = 'billing'
const STEPS = 20

/** The same changes for one seed. */
export function stepsOf(seed: number): Step[] {
  const random = randomOf(seed)
  const steps: Step[] = [
    put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }),
    put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: OTHER } }),
    put(GATEWAYS, gateway('web', 80)),
    put('services', service('cart', NAMESPACE)),
    put(ROUTES, route('d', { host: 'd.example.com', parent: 'web', backend: 'cart' })),
    put(SLICES, slice('cart', NAMESPACE, ['10.0.0.1'])),
  ]
  for (let i = 0; i < STEPS; i++) steps.push(stepOf(random))
  return steps
}

function stepOf(random: RandomNumbers): Step {
  const name = pick(random, ['a', 'b', 'c'])
  const parent = pick(random, GATEWAY_NAMES)
  const host = `${pick(random, ['x', 'y', 'z'])}.example.com`
  const backend = pick(random, ['cart', 'cart', 'stock', 'missing'])
  const addresses = Array.from({ length: Math.floor(random() * 3) }, () => `10.0.0.${Math.floor(random() * 250)}`)
  const port = pick(random, [80, 8080])
  const value = `v${Math.floor(random() * 3)}`
  return pick<Step>(random, [
    put(ROUTES, route(name, { host, parent, backend })),
    put(ROUTES, route(name, { host, parent, backend })),
    put(ROUTES, route(name, { host, parent, backend: 'bills', namespace: OTHER })),
    put(SLICES, slice('cart', NAMESPACE, addresses)),
    put(SLICES, slice('bills', OTHER, addresses)),
    put('services', service(pick(random, ['cart', 'stock']), NAMESPACE)),
    put('services', service('bills', OTHER)),
    put(GATEWAYS, gateway(parent, port)),
    put(GRANTS, grant()),
    put('secrets', secret('key', value)),
    put(POLICIES, policy('guard', { targetRef: { kind: 'HTTPRoute', name }, traffic: { csrf: {} } })),
    put(POLICIES, policy('edge', { targetRef: { kind: 'Gateway', name: parent }, traffic: { cors: CORS } })),
    put(POLICIES, policy('login', { targetRef: { kind: 'Service', name: 'cart', group: '' }, backend: KEY })),
    remove(ROUTES, NAMESPACE, name),
    remove('services', NAMESPACE, 'stock'),
    remove(GRANTS, OTHER, 'from-shop'),
    remove('secrets', NAMESPACE, 'key'),
    remove(POLICIES, NAMESPACE, pick(random, ['guard', 'edge', 'login'])),
    remove(GATEWAYS, NAMESPACE, 'api'),
    // Objects that the operator has created.
    remove('configmaps', NAMESPACE, `${parent}-config`),
    remove('secrets', NAMESPACE, `${parent}-secrets`),
    remove('services', NAMESPACE, parent),
    remove('deployments.apps', NAMESPACE, parent),
    remove(CLASSES, '', 'gw'),
  ])
}

const CORS = { allowOrigins: ['https://a.example.com'], allowMethods: ['GET'] }
const KEY = { auth: { secretRef: { name: 'key' } } }

function put(resource: string, object: FakeObject): Step {
  return (store) => void store.apply(resource, object, 'user')
}

function remove(resource: string, namespace: string, name: string): Step {
  const key = `${namespace}/${name}`
  return (store) => {
    if (store.get(resource, key) !== undefined) store.delete(resource, key)
  }
}

function object(apiVersion: string, kind: string, name: string, rest: object): FakeObject {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, ...rest }
}

function gateway(name: string, port: number): FakeObject {
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  return object('gateway.networking.k8s.io/v1', 'Gateway', name, { spec: { gatewayClassName: 'gw', listeners } })
}

interface RouteOptions {
  readonly host: string
  readonly parent: string
  readonly backend: string
  readonly namespace?: string
}

function route(name: string, { host, parent, backend, namespace }: RouteOptions): FakeObject {
  const ref = { name: backend, port: 80, ...(namespace !== undefined && { namespace }) }
  const spec = { parentRefs: [{ name: parent }], hostnames: [host], rules: [{ backendRefs: [ref] }] }
  return object('gateway.networking.k8s.io/v1', 'HTTPRoute', name, { spec })
}

function service(name: string, namespace: string): FakeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports: [{ port: 80 }] } }
}

function slice(of: string, namespace: string, addresses: readonly string[]): FakeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${of}-1`, namespace, labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ port: 8080 }],
  }
}

function grant(): FakeObject {
  const from = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: NAMESPACE }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ReferenceGrant',
    metadata: { name: 'from-shop', namespace: OTHER },
    spec: { from, to: [{ group: '', kind: 'Service' }] },
  }
}

function secret(name: string, value: string): FakeObject {
  const data = { Authorization: Buffer.from(value).toString('base64') }
  return object('v1', 'Secret', name, { type: 'Opaque', data })
}

interface PolicyOptions {
  readonly targetRef: { readonly kind: string; readonly name: string; readonly group?: string }
  readonly traffic?: object
  readonly backend?: object
}

function policy(name: string, { targetRef, ...sections }: PolicyOptions): FakeObject {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', ...targetRef }]
  return object('gw.dev/v1alpha1', 'GwPolicy', name, { spec: { targetRefs, ...sections } })
}
