// What a Gateway may not ask of its pods: named in its status, and nothing of it reaches the cluster.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
let kube: FakeKube
let operator: TestOperator | undefined

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
})

afterEach(async () => {
  await operator?.stop()
  await kube.stop()
})

async function start(environment: Record<string, string> = {}): Promise<void> {
  operator = await testOperator({ config: configFor(kube.url), environment })
}

function applyParameters(spec: object): void {
  const metadata = { name: 'web', namespace: 'shop' }
  const object = { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata, spec }
  kube.store.apply('gwparameters.gw.dev', object, 'user')
}

function applyGateway(infrastructure: object): void {
  const metadata = { name: 'web', namespace: 'shop' }
  const spec = {
    gatewayClassName: 'gw',
    infrastructure,
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
  }
  kube.store.apply(GATEWAYS, { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata, spec }, 'user')
}

const PARAMETERS_REF = { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: 'web' } }
const ROOT = { volumes: [{ name: 'root', hostPath: { path: '/' } }], hostNetwork: true }

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

function accepted(): Condition | undefined {
  const { status } = (kube.store.get(GATEWAYS, 'shop/web') ?? {}) as { status?: { conditions?: Condition[] } }
  return status?.conditions?.find(({ type }) => type === 'Accepted')
}

const deployment = (): FakeObject | undefined => kube.store.get('deployments.apps', 'shop/web')

it('a tenant gets no pod on the host, and reads which field which setting would allow', async () => {
  await start()
  applyParameters({ deployment: { spec: { template: { spec: ROOT } } } })
  applyGateway(PARAMETERS_REF)
  await until('the refusal', () => accepted()?.status === 'False')
  expect(accepted()?.reason).toBe('InvalidParameters')
  expect(accepted()?.message).toContain('GwParameters shop/web: spec.deployment.spec.template.spec.hostNetwork: ')
  expect(accepted()?.message).toContain('spec.deployment.spec.template.spec.volumes[root].hostPath.path')
  expect(accepted()?.message).toContain('GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS')
  expect(deployment()).toBeUndefined()
  expect(kube.store.get('services', 'shop/web')).toBeUndefined()
  applyParameters({ deployment: { spec: { replicas: 2 } } })
  await until('the Deployment', () => deployment() !== undefined)
  await until('the acceptance', () => accepted()?.status === 'True')
})

it('a serving deployment does not change when a field is rejected', async () => {
  await start()
  applyParameters({ deployment: { spec: { replicas: 2 } } })
  applyGateway(PARAMETERS_REF)
  await until('the Deployment', () => deployment() !== undefined)
  const before = deployment()?.metadata.resourceVersion
  applyParameters({ deployment: { spec: { replicas: 5, template: { spec: ROOT } } } })
  await until('the refusal', () => accepted()?.status === 'False')
  expect(deployment()?.metadata.resourceVersion).toBe(before)
})

it('annotations of injectors in the infrastructure are rejected', async () => {
  await start()
  applyGateway({ annotations: { 'sidecar.istio.io/inject': 'true' }, labels: { 'linkerd.io/inject': 'enabled' } })
  await until('the refusal', () => accepted()?.status === 'False')
  expect(accepted()?.message).toContain('spec.infrastructure.annotations[sidecar.istio.io/inject]: ')
  expect(accepted()?.message).toContain('spec.infrastructure.labels[linkerd.io/inject]: ')
  expect(deployment()).toBeUndefined()
})

it('an administrator can reject all parameters of Gateways', async () => {
  await start({ GW_GATEWAY_PARAMETERS: 'Refuse' })
  applyParameters({ deployment: { spec: { replicas: 2 } } })
  applyGateway(PARAMETERS_REF)
  await until('the refusal', () => accepted()?.status === 'False')
  expect(accepted()).toMatchObject({ reason: 'InvalidParameters' })
  expect(accepted()?.message).toContain('GW_GATEWAY_PARAMETERS=Allow')
  expect(deployment()).toBeUndefined()
})

it('an administrator can allow more', async () => {
  await start({ GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS: 'default,image.tag' })
  applyParameters({ image: { tag: 'canary' } })
  applyGateway(PARAMETERS_REF)
  await until('the Deployment', () => deployment() !== undefined)
  expect(JSON.stringify(deployment())).toContain(':canary"')
})
