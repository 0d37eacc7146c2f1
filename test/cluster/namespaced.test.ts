// The controller with rights in single namespaces (config/components/namespaced), on an API server that enforces
// rights: it works there, and sends no request for other namespaces.
// @module-tag full
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '#operator/translate/kube.ts'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { testOperator, type TestOperator } from '../../operator/controllers/operator.testing.ts'
import { until } from '../wait.ts'
import { missing, type RealApiServer, startRealApiServer } from './real-apiserver.ts'
import { accountConfig, grant, type Manifest } from './rights.ts'

const CONFIG = resolve(import.meta.dirname, '../../config')
const SETUP_MS = 180_000
const WATCHED = 'shop'

const reason = missing()
if (reason !== undefined) console.log(`skipped: ${reason}`)

/** The rights of config/overlays/namespaced, for the namespace of this test. */
function rights(): Manifest[] {
  const rbac = readdirSync(join(CONFIG, 'rbac')).filter((file) => !/kustomization|^cluster-role-binding/.test(file))
  const files = [...rbac.map((file) => `rbac/${file}`), 'components/namespaced/role-bindings.yaml']
  return files.flatMap((file) =>
    parseAllDocuments(
      readFileSync(join(CONFIG, file), 'utf8').replace('namespace: default', `namespace: ${WATCHED}`),
    ).map(
      (document) => document.toJS() as Manifest, // manifests of the repository
    ),
  )
}

describe.skipIf(reason !== undefined)('the controller in single namespaces', () => {
  let server: RealApiServer
  let config: KubeConfig
  const operators: TestOperator[] = []

  beforeAll(async () => {
    server = await startRealApiServer(testPort())
    for (const name of ['gw-system', WATCHED, 'other']) {
      await server.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    await grant(server, rights())
    config = await accountConfig(server)
    for (const namespace of [WATCHED, 'other']) {
      await server.apply(`/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/gateways/web`, {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'Gateway',
        metadata: { name: 'web', namespace },
        spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
      })
    }
  }, SETUP_MS)

  afterEach(async () => {
    for (const one of operators.splice(0)) await one.stop()
  })

  afterAll(() => server.stop(), SETUP_MS)

  async function start(environment: Readonly<Record<string, string>>): Promise<TestOperator> {
    const one = await testOperator({ config, environment })
    operators.push(one)
    return one
  }

  async function gatewayStatus(namespace: string): Promise<string> {
    const path = `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/gateways/web`
    const { body } = await server.send({ method: 'GET', path })
    return JSON.stringify((body as { status?: unknown }).status ?? {}) // a Gateway
  }

  async function objectAt(path: string): Promise<KubeObject> {
    return (await server.send({ method: 'GET', path })).body as KubeObject // the object of the API server
  }

  it(
    'serves only the Gateways in its namespaces',
    async () => {
      const one = await start({ GW_WATCH_NAMESPACES: WATCHED, GW_DISABLE_LEADER_ELECTION: 'false' })
      await until('ready', () => one.operator.isReady(), SETUP_MS)
      await until(
        'the Gateway is accepted',
        async () => (await gatewayStatus(WATCHED)).includes('"Accepted"'),
        SETUP_MS,
      )
      await until('its proxy is deployed', async () => {
        const path = `/apis/apps/v1/namespaces/${WATCHED}/deployments/web`
        return (await server.send({ method: 'GET', path })).status === 200
      })
      const namespaces = [...one.operator.cache.all('Gateway')].map(({ metadata }) => metadata.namespace)
      expect(namespaces).toEqual([WATCHED])
      expect(await gatewayStatus('other')).not.toContain('gw.dev/controller')
      const account = (await objectAt('/api/v1/namespaces/gw-system/serviceaccounts/gw-controller')).metadata
      const lease = await objectAt('/apis/coordination.k8s.io/v1/namespaces/gw-system/leases/gw-gw')
      expect(account.uid).toBeTruthy()
      expect(lease.metadata.ownerReferences).toEqual([
        { apiVersion: 'v1', kind: 'ServiceAccount', name: 'gw-controller', uid: account.uid },
      ])
      // The rights cover all requests.
      expect(one.log.filter((line) => /forbidden|Forbidden|failed/.test(line))).toEqual([])
    },
    SETUP_MS,
  )

  it(
    'cannot read the rest of the cluster, and reports it if its settings require that',
    async () => {
      const one = await start({})
      await until('refusals', () => one.log.some((line) => line.includes('watch of gateways failed')), SETUP_MS)
      expect(one.operator.isReady()).toBe(false)
      expect(one.operator.pending()).toContain('Gateway')
    },
    SETUP_MS,
  )
})
