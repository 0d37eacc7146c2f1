// Parameters that make an object which the API server does not take: nothing is written by half, and it heals.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const PARAMETERS = 'gwparameters.gw.dev'
let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  kube.refusal = ({ kind, spec }) => {
    // Of the kinds below.
    const { type, minReadySeconds } = { ...(spec as { type?: string; minReadySeconds?: number } | undefined) }
    if (kind === 'Service' && type === 'Nonsense') return 'spec.type: Unsupported value: "Nonsense"'
    return kind === 'Deployment' && (minReadySeconds ?? 0) < 0 ? 'spec.minReadySeconds: Invalid value: -1' : undefined
  }
  operator = await testOperator({ config: configFor(kube.url) })
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
})

function applyParameters(spec: object): void {
  const metadata = { name: 'web', namespace: 'shop' }
  kube.store.apply(PARAMETERS, { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata, spec }, 'user')
}

function makeGateway(): void {
  const parametersRef = { group: 'gw.dev', kind: 'GwParameters', name: 'web' }
  kube.store.create(GATEWAYS, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      gatewayClassName: 'gw',
      infrastructure: { parametersRef },
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    },
  })
}

function live(resource: string): FakeObject | undefined {
  return kube.store.get(resource, 'shop/web')
}

function programmed(): { reason?: string; message?: string } {
  const { status } = (live(GATEWAYS) ?? {}) as {
    status?: { conditions?: { type: string; reason: string; message: string }[] }
  }
  return status?.conditions?.find(({ type }) => type === 'Programmed') ?? {}
}

const OWN = ['serviceaccounts', 'configmaps', 'services', 'deployments.apps']

it('names all rejected objects, writes none, and writes them when the parameters are corrected', async () => {
  applyParameters({ service: { spec: { type: 'Nonsense' } }, deployment: { spec: { minReadySeconds: -1 } } })
  makeGateway()
  await until('the refusal', () => programmed().reason === 'DeploymentFailed')
  expect(programmed().message).toBe(
    [
      'Service web was refused: spec.type: Unsupported value: "Nonsense"; see spec.service of GwParameters shop/web',
      'Deployment web was refused: spec.minReadySeconds: Invalid value: -1; see spec.deployment of GwParameters shop/web',
    ].join('\n'),
  )
  expect(OWN.filter((resource) => live(resource) !== undefined)).toEqual([])
  await until('the Event', () =>
    kube.store.list('events').some((event) => JSON.stringify(event).includes('spec.deployment')),
  )
  applyParameters({})
  await until('all of them', () => OWN.every((resource) => live(resource) !== undefined))
  await until('another word', () => programmed().reason === 'Pending')
})

it('does not change a serving deployment when one of the changes is rejected', async () => {
  applyParameters({})
  makeGateway()
  await until('the deployment', () => live('deployments.apps') !== undefined && programmed().reason === 'Pending')
  const before = OWN.map((resource) => live(resource)?.metadata.resourceVersion)
  applyParameters({ service: { spec: { type: 'NodePort' } }, deployment: { spec: { minReadySeconds: -1 } } })
  await until('the refusal', () => programmed().reason === 'DeploymentFailed')
  expect(OWN.map((resource) => live(resource)?.metadata.resourceVersion)).toEqual(before)
})
