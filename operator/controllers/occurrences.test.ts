// What becomes an Event in a cluster: what stays wrong, on the object that it is about.
// @module-tag full
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io'
let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  operator = await testOperator({ config: configFor(kube.url) })
  await until('ready', () => operator.operator.isReady())
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
})

function make(resource: string, kind: string, name: string, rest: object): void {
  const apiVersion = kind === 'Service' ? 'v1' : kind.startsWith('Gw') ? 'gw.dev/v1alpha1' : `${GATEWAY_API}/v1`
  kube.store.create(resource, { apiVersion, kind, metadata: { name, namespace: 'shop' }, ...rest })
}

function makeGateway(infrastructure: object = {}): void {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  make(`gateways.${GATEWAY_API}`, 'Gateway', 'web', { spec: { gatewayClassName: 'gw', listeners, infrastructure } })
}

function makeRoute(name: string, service: string): void {
  const rules = [{ backendRefs: [{ name: service, port: 80 }] }]
  make(`httproutes.${GATEWAY_API}`, 'HTTPRoute', name, { spec: { parentRefs: [{ name: 'web' }], rules } })
}

const events = (): readonly FakeObject[] => kube.store.list('events')

interface Condition {
  readonly type: string
  readonly status: string
  readonly message: string
}

function accepted(): Condition | undefined {
  const { status } = kube.store.get(`gateways.${GATEWAY_API}`, 'shop/web') as {
    status?: { conditions?: readonly Condition[] }
  }
  return status?.conditions?.find(({ type }) => type === 'Accepted')
}

function priced(key: string): FakeObject {
  const metadata = { name: 'prices', namespace: 'shop' }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [key]: '{}' } }
}

async function untilReported(): Promise<void> {
  await until('an Event', () => events().length > 0)
  await until('idle', () => operator.operator.isIdle())
}

describe('Events of the operator', () => {
  it('report a route without backend, and not one that was created before its Service', async () => {
    makeGateway()
    makeRoute('early', 'cart')
    makeRoute('lost', 'nowhere')
    make('services', 'Service', 'cart', { spec: { ports: [{ port: 80 }] } })
    await untilReported()
    const [event, ...others] = events()
    expect(others).toEqual([])
    expect(event).toMatchObject({ reason: 'BackendNotFound', involvedObject: { kind: 'HTTPRoute', name: 'lost' } })
    expect(event?.['message']).toContain('spec.rules[0].backendRefs[0]')
  })

  it('report a missing model catalog, as the status does until it is created', async () => {
    const modelCatalog = { sources: [{ configMap: { name: 'prices' } }] }
    make('gwparameters.gw.dev', 'GwParameters', 'models', { spec: { modelCatalog } })
    makeGateway({ parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: 'models' } })
    await untilReported()
    expect(events()).toMatchObject([
      { reason: 'ModelCatalogNotFound', involvedObject: { kind: 'Gateway', name: 'web' } },
    ])
    const reported =
      'GwParameters shop/models: spec.modelCatalog.sources[0].configMap: ConfigMap shop/prices not found, or without the ' +
      'key catalog.json: the proxies have no prices from it until it is created'
    expect(events()[0]?.['message']).toContain(reported)
    expect(accepted()).toMatchObject({ status: 'True' })
    expect(accepted()?.message).toMatch(/^Successfully accepted Gateway\n/)
    expect(accepted()?.message).toContain(reported)
    kube.store.create('configmaps', priced('other.json'))
    await until('idle', () => operator.operator.isIdle())
    expect(accepted()?.message).toContain(reported)
    kube.store.update('configmaps', priced('catalog.json'), false)
    await until('nothing is missing', () => accepted()?.message === 'Successfully accepted Gateway')
  })

  it('are written again after a failure', async () => {
    let failures = 0
    kube.fault = ({ method, resource }) =>
      method === 'POST' && resource === 'events' && failures++ < 2 ? { kind: 'status', status: 500 } : undefined
    makeGateway()
    makeRoute('lost', 'nowhere')
    await untilReported()
    expect(failures).toBe(3)
    expect(events()).toHaveLength(1)
  })
})
