// Objects of users under the names that a Gateway needs: never written, and reported.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'
import { firstOf } from '#test/run/table.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
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

/** A change of the Gateway, so that the test need not wait until the object is checked again. */
function touchGateway(name: string): void {
  const gateway = live(GATEWAYS, name)
  const annotations = { touched: String(gateway.metadata.resourceVersion) }
  kube.store.update(GATEWAYS, { ...gateway, metadata: { ...gateway.metadata, annotations } }, false)
}

function live(resource: string, name: string): FakeObject {
  const object = kube.store.get(resource, `shop/${name}`)
  if (object === undefined) throw new Error(`no ${resource} ${name}`)
  return object
}

function programmed(name: string): { status?: string; reason?: string; message?: string } {
  const { status } = live(GATEWAYS, name) as {
    status?: { conditions?: { type: string; status: string; reason: string; message: string }[] }
  }
  return status?.conditions?.find(({ type }) => type === 'Programmed') ?? {}
}

const isRefused = (name: string, object: string) => (): boolean =>
  programmed(name).reason === 'DeploymentFailed' && programmed(name).message?.includes(object) === true

describe('objects that the Gateway does not own', () => {
  firstOf(2)([
    ['services', 'v1', 'Service'],
    ['deployments.apps', 'apps/v1', 'Deployment'],
    ['serviceaccounts', 'v1', 'ServiceAccount'],
    ['configmaps', 'v1', 'ConfigMap'],
    ['roles.rbac.authorization.k8s.io', 'rbac.authorization.k8s.io/v1', 'Role'],
  ])('%s stays as it is, and the Gateway deploys when it is gone', async (resource, apiVersion, kind) => {
    const theirs = kube.store.create(resource, { apiVersion, kind, metadata: { name: 'web', namespace: 'shop' } })
    makeGateway('web')
    await until('the refusal', isRefused('web', `${kind} web`))
    await until('the Event', () => kube.store.list('events').length === 1)
    expect(programmed('web')).toMatchObject({ status: 'False' })
    expect(programmed('web').message).toBe(
      `${kind} web does not belong to this Gateway and is not changed; rename or delete it, or rename the Gateway`,
    )
    expect(kube.store.list('events')).toMatchObject([
      {
        reason: 'DeploymentFailed',
        type: 'Warning',
        involvedObject: { name: 'web' },
        message: programmed('web').message,
      },
    ])
    expect(live(resource, 'web')).toEqual(theirs)
    // Nothing by half.
    for (const other of ['services', 'deployments.apps', 'serviceaccounts'])
      if (other !== resource) expect(kube.store.get(other, 'shop/web')).toBeUndefined()
    kube.store.delete(resource, 'shop/web')
    touchGateway('web')
    await until('deployed', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('the refusal is gone', () => programmed('web').reason === 'Pending')
    expect(live(resource, 'web').metadata.ownerReferences).toHaveLength(1)
  })

  it('are not written either when a user replaces one of ours', async () => {
    makeGateway('web')
    await until('deployed', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('idle', () => operator.operator.isIdle())
    // Both before the operator can see the first.
    kube.store.delete('services', 'shop/web')
    const metadata = { name: 'web', namespace: 'shop' }
    const theirs = kube.store.create('services', { apiVersion: 'v1', kind: 'Service', metadata })
    await until('the refusal', isRefused('web', 'Service web'))
    expect(live('services', 'web')).toEqual(theirs)
  })

  it('include the acknowledgements of the proxies', async () => {
    const metadata = { name: 'web-acknowledgements', namespace: 'shop' }
    const theirs = kube.store.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    makeGateway('web')
    await until('the refusal', isRefused('web', 'ConfigMap web-acknowledgements'))
    expect(live('configmaps', 'web-acknowledgements')).toEqual(theirs)
  })

  it('are adopted again when only the owner reference was removed by hand', async () => {
    makeGateway('web')
    await until('deployed', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
    await until('idle', () => operator.operator.isIdle())
    const { ownerReferences: _owner, ...metadata } = live('services', 'web').metadata
    kube.store.update('services', { ...live('services', 'web'), metadata }, false)
    await until('owned again', () => live('services', 'web').metadata.ownerReferences?.length === 1)
    expect(programmed('web').reason).toBe('Pending')
  })
})

describe('two Gateways whose objects would have one name', () => {
  it.each([
    ['a', 'a-config'],
    ['a-config', 'a'],
  ])('%s before %s: the second one fails', async (first, second) => {
    makeGateway(first)
    await until('the ConfigMap', () => kube.store.get('configmaps', 'shop/a-config') !== undefined)
    await until('idle', () => operator.operator.isIdle())
    const before = live('configmaps', 'a-config')
    makeGateway(second)
    await until('the refusal', isRefused(second, 'ConfigMap a-config'))
    await until('idle again', () => operator.operator.isIdle())
    expect(live('configmaps', 'a-config')).toEqual(before)
    expect(programmed(first).reason).toBe('Pending')
  })
})
