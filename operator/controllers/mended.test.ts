// What was in the way of a Gateway and was mended by hand, and what is said of one that goes.
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const KEY = 'web-session-key'
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

function makeGateway(name: string): void {
  kube.store.create(GATEWAYS, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
}

function makeKey(text: string, labels: Readonly<Record<string, string>> = {}): void {
  const data = { key: Buffer.from(text).toString('base64') }
  const metadata = { name: KEY, namespace: 'shop', labels }
  kube.store.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata, data })
}

function live(resource: string, name: string): FakeObject | undefined {
  return kube.store.get(resource, `shop/${name}`)
}

function programmed(name: string): { status?: string; reason?: string; message?: string } {
  const { status } = (live(GATEWAYS, name) ?? {}) as {
    status?: { conditions?: { type: string; status: string; reason: string; message: string }[] }
  }
  return status?.conditions?.find(({ type }) => type === 'Programmed') ?? {}
}

describe('a session key that is malformed', () => {
  it('of a user, is replaced when it is deleted', async () => {
    makeKey('short')
    makeGateway('web')
    await until('the refusal', () => programmed('web').message?.includes('session key is malformed') === true)
    expect(live('deployments.apps', 'web')).toBeUndefined()
    kube.store.delete('secrets', `shop/${KEY}`)
    await until('the deployment', () => live('deployments.apps', 'web') !== undefined)
    await until('another word', () => programmed('web').reason === 'Pending')
    expect(live('secrets', KEY)?.metadata.ownerReferences).toHaveLength(1)
  })

  it('of the operator, is used again when it is corrected', async () => {
    makeGateway('web')
    await until('the key', () => live('secrets', KEY) !== undefined && programmed('web').reason === 'Pending')
    const secret = live('secrets', KEY) as FakeObject // waited for
    kube.store.update('secrets', { ...secret, data: { key: Buffer.from('short').toString('base64') } }, false)
    await until('the refusal', () => programmed('web').message?.includes('session key is malformed') === true)
    const data = { key: Buffer.from('ab'.repeat(32)).toString('base64') }
    kube.store.update('secrets', { ...(live('secrets', KEY) as FakeObject), data }, false)
    await until('another word', () => programmed('web').reason === 'Pending')
    expect(live('secrets', KEY)).toMatchObject({ data })
  })
})

describe('a session key without an owner', () => {
  const VALUE = 'ab'.repeat(32)
  const FORMER = {
    'gateway.networking.k8s.io/gateway-name': 'web',
    'gateway.networking.k8s.io/gateway-class-name': 'gw',
  }

  it.each([
    ['the operator', { ...FORMER, 'app.kubernetes.io/managed-by': 'gw' }],
    ['the operator of a former version', FORMER],
  ])('that %s created is used as it is', async (_, labels) => {
    makeKey(VALUE, labels)
    const before = live('secrets', KEY)
    makeGateway('web')
    await until('the deployment', () => programmed('web').reason === 'Pending')
    const annotations = { 'checksum/session-key': createHash('sha256').update(VALUE).digest('hex') }
    expect(live('deployments.apps', 'web')).toMatchObject({ spec: { template: { metadata: { annotations } } } })
    expect(live('secrets', KEY)).toEqual(before)
  })

  it.each([{}, { 'gateway.networking.k8s.io/gateway-name': 'web' }])('of a user is not used (%o)', async (labels) => {
    makeKey(VALUE, labels)
    makeGateway('web')
    await until('the refusal', () => programmed('web').message?.includes(`Secret ${KEY} does not belong`) === true)
    expect(live('deployments.apps', 'web')).toBeUndefined()
  })
})

describe('a Gateway that is being deleted', () => {
  it('keeps its status', async () => {
    makeGateway('web')
    await until('the status', () => programmed('web').reason === 'Pending')
    const gateway = live(GATEWAYS, 'web') as FakeObject // waited for
    const metadata = { ...gateway.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/x'] }
    kube.store.update(GATEWAYS, { ...gateway, metadata }, false)
    makeGateway('later')
    await until('the other one', () => programmed('later').reason === 'Pending')
    await until('nothing to do', () => operator.operator.isIdle())
    expect(programmed('web')).toMatchObject({ status: 'False', reason: 'Pending' })
  })
})

describe('a namespace that is being deleted', () => {
  const namespace = (metadata: object): FakeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', ...metadata },
  })
  const OWNED = [
    ['deployments.apps', 'web'],
    ['configmaps', 'web-config'],
    ['secrets', KEY],
  ] as const

  it('is left alone, and served again when a namespace of that name exists again', async () => {
    makeGateway('web')
    await until('its objects', () => OWNED.every(([kind, name]) => live(kind, name) !== undefined))
    await until('the status', () => programmed('web').reason === 'Pending')
    kube.store.update(
      'namespaces',
      namespace({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }),
      false,
    )
    for (const [kind, name] of OWNED) kube.store.delete(kind, `shop/${name}`)
    kube.store.create('namespaces', { ...namespace({}), metadata: { name: 'market' } })
    kube.store.create(GATEWAYS, {
      ...(live(GATEWAYS, 'web') as FakeObject), // made above
      metadata: { name: 'later', namespace: 'market' },
    })
    await until('another Gateway', () => kube.store.get('deployments.apps', 'market/later') !== undefined)
    await until('nothing to do', () => operator.operator.isIdle())
    expect(OWNED.map(([kind, name]) => live(kind, name))).toEqual([undefined, undefined, undefined])
    expect(programmed('web')).toMatchObject({ status: 'False', reason: 'Pending' })
    kube.store.update('namespaces', namespace({ deletionTimestamp: undefined }), false)
    await until('its objects again', () => OWNED.every(([kind, name]) => live(kind, name) !== undefined))
  })
})
