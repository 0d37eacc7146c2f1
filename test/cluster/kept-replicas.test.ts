// Field ownership, which only a real API server has: the number of pods is kept after its parameters are removed only
// if an autoscaler owns it.
// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { testOperator, type TestOperator } from '../../operator/controllers/operator.testing.ts'
import { until } from '../wait.ts'
import { missing, type RealApiServer, startRealApiServer } from './real-apiserver.ts'

const SETUP_MS = 180_000
const TEST_MS = 60_000
const FIXED = { deployment: { spec: { replicas: 3 } } }
const SCALED = { horizontalPodAutoscaler: { spec: { minReplicas: 2, maxReplicas: 5 } } }

const reason = missing()
if (reason !== undefined) console.log(`skipped: ${reason}`)

describe.skipIf(reason !== undefined)('the number of pods on a real API server', () => {
  let server: RealApiServer
  let operator: TestOperator

  beforeAll(async () => {
    server = await startRealApiServer(testPort())
    for (const name of ['gw-system', 'shop']) {
      await server.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    operator = await testOperator({ config: server.config })
  }, SETUP_MS)

  afterAll(async () => {
    await operator.stop()
    await server.stop()
  }, SETUP_MS)

  async function parameters(name: string, spec: object): Promise<void> {
    const object = { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { name, namespace: 'shop' }, spec }
    await server.apply(`/apis/gw.dev/v1alpha1/namespaces/shop/gwparameters/${name}`, object)
  }

  async function gateway(name: string): Promise<void> {
    await server.apply(`/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/${name}`, {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name, namespace: 'shop' },
      spec: {
        gatewayClassName: 'gw',
        infrastructure: { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name } },
        listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
      },
    })
  }

  async function replicas(name: string): Promise<number | undefined> {
    const { body } = await server.send({ method: 'GET', path: `/apis/apps/v1/namespaces/shop/deployments/${name}` })
    // A Deployment, or a Status.
    return (body as { spec?: { replicas?: number } }).spec?.replicas
  }

  async function hasScaler(name: string): Promise<boolean> {
    const path = `/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/${name}`
    return (await server.send({ method: 'GET', path })).status === 200
  }

  async function settled(): Promise<void> {
    await until('nothing to do', () => operator.operator.isIdle(), TEST_MS)
  }

  it(
    'is kept for an autoscaler, which may change it, and parameters can set it again',
    async () => {
      await parameters('scaled', FIXED)
      await gateway('scaled')
      await until('three pods', async () => (await replicas('scaled')) === 3, TEST_MS)
      await parameters('scaled', SCALED)
      await until('the autoscaler', () => hasScaler('scaled'), TEST_MS)
      await settled()
      expect(await replicas('scaled')).toBe(3)
      // The call of an autoscaler.
      const path = '/apis/apps/v1/namespaces/shop/deployments/scaled/scale'
      const scale = await server.send({
        method: 'PATCH',
        path: `${path}?fieldManager=kube-controller-manager`,
        body: { spec: { replicas: 4 } },
        contentType: 'application/merge-patch+json',
      })
      expect(scale.status).toBe(200)
      await parameters('scaled', { ...SCALED, logging: { format: 'json' } })
      await until('another generation', async () => (await format('scaled')).includes('json'), TEST_MS)
      await settled()
      expect(await replicas('scaled')).toBe(4)
      await parameters('scaled', { deployment: { spec: { replicas: 2 } } })
      await until('two pods', async () => (await replicas('scaled')) === 2, TEST_MS)
    },
    SETUP_MS,
  )

  async function format(name: string): Promise<string> {
    const { body } = await server.send({ method: 'GET', path: `/api/v1/namespaces/shop/configmaps/${name}` })
    return JSON.stringify(body)
  }

  it(
    'is the default again without one',
    async () => {
      await parameters('plain', FIXED)
      await gateway('plain')
      await until('three pods', async () => (await replicas('plain')) === 3, TEST_MS)
      await parameters('plain', { logging: { format: 'json' } })
      await until('another number', async () => (await replicas('plain')) !== 3, TEST_MS)
      expect(await replicas('plain')).toBe(1)
    },
    SETUP_MS,
  )
})
