// The controller keeps the content of Secrets and ConfigMaps only if something refers to it, and fetches it otherwise.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const POLICIES = 'gwpolicies.gw.dev'

let kube: FakeKube
let operator: TestOperator | undefined

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  kube.store.create(GATEWAYS, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  kube.store.create(ROUTES, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
  })
  makeSecret('used')
  makeSecret('unrelated')
})

afterEach(async () => {
  await operator?.stop()
  operator = undefined
  await kube.stop()
})

const start = async (): Promise<TestOperator> => (operator = await testOperator({ config: configFor(kube.url) }))

/** Longer than what is always kept. */
const token = (text: string): string => text.padEnd(700, '.')
const contentOf = (text: string): object => ({ Authorization: Buffer.from(token(text)).toString('base64') })

function makeSecret(name: string): void {
  const data = contentOf(`first of ${name}`)
  kube.store.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' }, data })
}

function protect(secret: string): void {
  kube.store.create(POLICIES, {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name: `with-${secret}`, namespace: 'shop' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'cart' }],
      backend: { auth: { secretRef: { name: secret } } },
    },
  })
}

const delivered = (name: string): string | undefined =>
  deliveryOf(kube.store, 'shop', 'web')?.secrets.secrets.find(({ key }) => key === `shop/${name}/Authorization`)?.value
const kept = (name: string): string => JSON.stringify(operator?.operator.cache.get('Secret', 'shop', name))
const fetches = (name: string): number =>
  kube.requests.filter(({ method, path }) => method === 'GET' && path.endsWith(`/secrets/${name}`)).length
const isServed = (): boolean => deliveryOf(kube.store, 'shop', 'web') !== undefined

/** Each attempt to fetch the Secret fails until the returned function is called. */
function failFetchesOf(name: string): () => void {
  kube.fault = ({ method, path }) =>
    method === 'GET' && path.endsWith(`/secrets/${name}`) ? { kind: 'status', status: 503 } : undefined
  return () => (kube.fault = () => undefined)
}

it('fetches the content that a policy refers to once, and keeps only metadata of other Secrets', async () => {
  protect('used')
  await start()
  await until('the delivery', () => delivered('used') === token('first of used'))
  expect([fetches('used'), fetches('unrelated')]).toEqual([1, 0])
  expect(kept('used')).toContain('"data":{"Authorization":')
  expect(kept('unrelated')).not.toContain('Authorization')
  // From the watch.
  const secret = kube.store.get('secrets', 'shop/used')
  kube.store.update('secrets', { ...secret, data: contentOf('second') } as FakeObject, false)
  await until('the changed content', () => delivered('used') === token('second'))
  expect(fetches('used')).toBe(1)
})

it('fetches content when the first policy refers to it, and again if the Secret is created again', async () => {
  await start()
  await until('the delivery', isServed)
  protect('used')
  await until('the content', () => delivered('used') === token('first of used'))
  kube.store.delete('secrets', 'shop/used')
  await until('the deletion', () => delivered('used') === undefined)
  makeSecret('used')
  await until('the new Secret', () => delivered('used') === token('first of used'))
  expect(fetches('used')).toBe(2)
})

it('delivers nothing at its start until it has fetched the content', async () => {
  protect('used')
  const mend = failFetchesOf('used')
  const { operator: running, log } = await start()
  await until('three attempts', () => fetches('used') >= 3)
  expect([running.isReady(), isServed()]).toEqual([false, false])
  expect(log.join('\n')).toContain('1 of 1 Secrets and ConfigMaps were not fetched')
  mend()
  await until('the delivery', () => delivered('used') === token('first of used'))
})

it('delivers other changes if content is not fetched within a second, and the content later', async () => {
  await start()
  await until('the delivery', isServed)
  const mend = failFetchesOf('used')
  protect('used')
  const route = kube.store.get(ROUTES, 'shop/cart')
  const spec = { ...(route?.['spec'] as object), hostnames: ['changed.example.com'] }
  kube.store.update(ROUTES, { ...route, spec } as FakeObject, false)
  const config = (): string => JSON.stringify(deliveryOf(kube.store, 'shop', 'web')?.config)
  await until('the other change', () => config().includes('changed.example.com'))
  expect(delivered('used')).toBeUndefined()
  mend()
  await until('the content', () => delivered('used') === token('first of used'))
})

it('treats a Secret that was deleted meanwhile as missing', async () => {
  protect('used')
  kube.fault = ({ method, path }) => {
    if (method === 'GET' && path.endsWith('/secrets/used')) kube.store.delete('secrets', 'shop/used')
    return undefined
  }
  await start()
  await until('the delivery', isServed)
  await until('the status', () => JSON.stringify(kube.store.get(POLICIES, 'shop/with-used')).includes('not found'))
  expect(fetches('used')).toBe(1)
})

it('knows the entries of a ConfigMap whose content it does not keep', async () => {
  const data = { 'catalog.json': '{}'.padEnd(700) }
  kube.store.create('configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'p', namespace: 'shop' },
    data,
  })
  const source = (name: string): object => ({ configMap: { name } })
  kube.store.create('gwparameters.gw.dev', {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwParameters',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { modelCatalog: { sources: [source('p'), source('missing')] } },
  })
  const web = kube.store.get(GATEWAYS, 'shop/web')
  const infrastructure = { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: 'web' } }
  kube.store.update(GATEWAYS, { ...web, spec: { ...(web?.['spec'] as object), infrastructure } } as FakeObject, false)
  await start()
  const status = (): string => JSON.stringify(kube.store.get(GATEWAYS, 'shop/web'))
  await until('the status', () => status().includes('ConfigMap shop/missing not found'))
  expect(status()).not.toContain('ConfigMap shop/p not found')
  expect(JSON.stringify(operator?.operator.cache.get('ConfigMap', 'shop', 'p'))).not.toContain('{}')
})
