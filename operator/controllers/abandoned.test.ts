// What a Gateway says whose class is gone, and a ListenerSet whose Gateway is: not that all is well.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const CLASSES = 'gatewayclasses.gateway.networking.k8s.io'
const SETS = 'listenersets.gateway.networking.k8s.io'
const API = 'gateway.networking.k8s.io/v1'
let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  operator = await testOperator({ config: configFor(kube.url) })
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
})

function makeClass(name: string, controllerName = 'gw.dev/controller'): void {
  kube.store.create(CLASSES, { apiVersion: API, kind: 'GatewayClass', metadata: { name }, spec: { controllerName } })
}

function makeGateway(name: string, gatewayClassName: string): void {
  kube.store.create(GATEWAYS, {
    apiVersion: API,
    kind: 'Gateway',
    metadata: { name, namespace: 'shop' },
    spec: {
      gatewayClassName,
      allowedListeners: { namespaces: { from: 'Same' } },
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    },
  })
}

function makeSet(): void {
  kube.store.create(SETS, {
    apiVersion: API,
    kind: 'ListenerSet',
    metadata: { name: 'more', namespace: 'shop' },
    spec: { parentRef: { name: 'web' }, listeners: [{ name: 'other', port: 81, protocol: 'HTTP' }] },
  })
}

interface Status {
  readonly addresses?: readonly unknown[]
  readonly attachedListenerSets?: number
  readonly listeners?: readonly unknown[]
  readonly conditions?: ReadonlyArray<{ type: string; status: string; reason: string; message: string }>
}

function statusOf(resource: string, name: string): Status {
  return kube.store.get(resource, `shop/${name}`)?.['status'] ?? {}
}

function says(resource: string, name: string): string[] {
  const { conditions = [] } = statusOf(resource, name)
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
}

const UNATTENDED = ['Accepted Unknown Pending', 'Programmed Unknown Pending']

/** Programmed, because there is no configuration that a proxy must load. */
async function served(name: string, className: string): Promise<void> {
  makeGateway(name, className)
  await until('the Deployment', () => kube.store.get('deployments.apps', `shop/${name}`) !== undefined)
  const deployment = kube.store.get('deployments.apps', `shop/${name}`) as FakeObject // waited for
  const spec = { ...(deployment['spec'] as object), replicas: 0 }
  kube.store.update('deployments.apps', { ...deployment, spec, status: { observedGeneration: 1 } }, false)
  const service = kube.store.get('services', `shop/${name}`) as FakeObject // made before the Deployment
  kube.store.update('services', { ...service, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }, true)
  await until('programmed', () => says(GATEWAYS, name).includes('Programmed True Programmed'))
  await until('its address', () => (statusOf(GATEWAYS, name).addresses ?? []).length === 1)
}

const isUnattended = (resource: string, name: string) => (): boolean =>
  says(resource, name).join() === UNATTENDED.join()

describe('a Gateway whose class is deleted', () => {
  it('reports it, keeps its address and its proxies, and is served again when the class is back', async () => {
    makeClass('blue')
    await served('web', 'blue')
    makeSet()
    await until('the set', () => says(SETS, 'more').includes('Programmed True Programmed'))
    const { addresses } = statusOf(GATEWAYS, 'web')
    kube.store.delete(CLASSES, '/blue')
    await until('the word', isUnattended(GATEWAYS, 'web'))
    await until('that of the set', isUnattended(SETS, 'more'))
    expect(statusOf(GATEWAYS, 'web')).toMatchObject({ addresses, attachedListenerSets: 0, listeners: [] })
    const { message } = statusOf(GATEWAYS, 'web').conditions?.[0] ?? {}
    expect(message).toMatch(/^spec.gatewayClassName: GatewayClass blue does not exist, .*Create the class again/)
    expect(kube.store.get('deployments.apps', 'shop/web')).toBeDefined()
    await until('the Event', () => kube.store.list('events').length === 1)
    expect(kube.store.list('events')).toMatchObject([{ reason: 'Pending', message, involvedObject: { name: 'web' } }])
    makeClass('blue')
    await until('programmed again', () => says(GATEWAYS, 'web').includes('Programmed True Programmed'))
    await until('the set, too', () => says(SETS, 'more').includes('Programmed True Programmed'))
    expect(statusOf(GATEWAYS, 'web').listeners).toHaveLength(1)
  })

  it('also reports it when the class was deleted while no operator ran', async () => {
    makeClass('blue')
    await served('web', 'blue')
    await operator.stop()
    kube.store.delete(CLASSES, '/blue')
    operator = await testOperator({ config: configFor(kube.url) })
    await until('the word', isUnattended(GATEWAYS, 'web'))
    expect(statusOf(GATEWAYS, 'web').listeners).toEqual([])
  })

  it('follows its generation, and is left to the controller of its new class', async () => {
    makeClass('blue')
    makeClass('theirs', 'example.com/other')
    await served('web', 'blue')
    kube.store.delete(CLASSES, '/blue')
    await until('the word', isUnattended(GATEWAYS, 'web'))
    const rename = (gatewayClassName: string): void => {
      const gateway = kube.store.get(GATEWAYS, 'shop/web') as FakeObject // made above
      kube.store.update(GATEWAYS, { ...gateway, spec: { ...(gateway['spec'] as object), gatewayClassName } }, false)
    }
    rename('green')
    await until('the other name', () => statusOf(GATEWAYS, 'web').conditions?.[0]?.message.includes('green') === true)
    rename('theirs')
    const before = statusOf(GATEWAYS, 'web')
    makeGateway('later', 'gw')
    await until('the next one', () => says(GATEWAYS, 'later').length > 0)
    await until('nothing to do', () => operator.operator.isIdle())
    expect(statusOf(GATEWAYS, 'web')).toEqual(before)
  })
})

describe('a Gateway that never was ours', () => {
  it('gets no status, whether its class is missing or not', async () => {
    makeClass('theirs', 'example.com/other')
    makeGateway('a', 'nothing')
    makeGateway('b', 'theirs')
    makeGateway('later', 'gw')
    await until('the next one', () => says(GATEWAYS, 'later').length > 0)
    await until('nothing to do', () => operator.operator.isIdle())
    expect([statusOf(GATEWAYS, 'a'), statusOf(GATEWAYS, 'b')]).toEqual([{}, {}])
  })
})

describe('the class that the operator creates', () => {
  it('is created again without a status change of its Gateways', async () => {
    await served('web', 'gw')
    kube.store.delete(CLASSES, '/gw')
    await until('the class', () => kube.store.get(CLASSES, '/gw') !== undefined)
    await until('nothing to do', () => operator.operator.isIdle())
    expect(says(GATEWAYS, 'web')).toContain('Programmed True Programmed')
    expect(kube.store.list('events')).toEqual([])
  })
})

describe('a ListenerSet whose Gateway is deleted', () => {
  it('reports it, and is attached again when the Gateway is back', async () => {
    await served('web', 'gw')
    makeSet()
    await until('the set', () => says(SETS, 'more').includes('Accepted True Accepted'))
    kube.store.delete(GATEWAYS, 'shop/web')
    await until('the word', isUnattended(SETS, 'more'))
    expect(statusOf(SETS, 'more').conditions?.[0]?.message).toBe(
      'spec.parentRef: Gateway shop/web does not exist; create it, or delete the ListenerSet',
    )
    makeGateway('web', 'gw')
    await until('attached again', () => says(SETS, 'more').includes('Accepted True Accepted'))
  })
  it('stays unchanged when nothing shows that it was attached to one of our Gateways', async () => {
    await operator.stop()
    makeSet()
    const set = kube.store.get(SETS, 'shop/more') as FakeObject // made above
    const conditions = [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: 'by another controller' }]
    kube.store.update(SETS, { ...set, status: { conditions } }, true)
    operator = await testOperator({ config: configFor(kube.url) })
    makeGateway('later', 'gw')
    await until('the next one', () => says(GATEWAYS, 'later').length > 0)
    await until('nothing to do', () => operator.operator.isIdle())
    expect(statusOf(SETS, 'more')).toEqual({ conditions })
  })
})
