// A controller with its metrics server, before an API server in this process: a Gateway with a route, and a proxy that
// rejects its delivery.
import { createServer } from 'node:http'
import { createMetrics } from '#operator/admin/metrics.ts'
import { configFor, testOperator } from '#operator/controllers/operator.testing.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const API = 'gateway.networking.k8s.io/v1'

export interface MonitoredController {
  readonly metricsPort: number
  stop(): Promise<void>
}

export async function startController(): Promise<MonitoredController> {
  const kube = await FakeKube.withNamespaces('gw-system', 'shop')
  const metrics = createMetrics({ hasRuntimeMetrics: true, build: { commit: 'c', date: '2026-01-01' } })
  const config = configFor(kube.url)
  // Of some namespaces, whose names are in the labels of watches.
  const environment = { GW_WATCH_NAMESPACES: 'shop' }
  const { observer, onWrite } = metrics
  const operator = await testOperator({ config, environment, observer, onWrite })
  const server = createServer((_, response) => {
    void metrics.text().then((text) => response.setHeader('content-type', metrics.contentType).end(text))
  })
  const metricsPort = await listening(server)
  kube.store.create('gateways.gateway.networking.k8s.io', {
    apiVersion: API,
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  kube.store.create('httproutes.gateway.networking.k8s.io', {
    apiVersion: API,
    kind: 'HTTPRoute',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'web' }] },
  })
  await until('the Gateway is deployed', () => kube.store.get('deployments.apps', 'shop/web') !== undefined)
  // Only a defect of the controller counts these two.
  observer.objectFailed('GwPolicy')
  observer.run({ queue: 'gateway', key: 'shop/web', isSuccess: false, seconds: 0.01 })
  return {
    metricsPort,
    stop: async () => {
      closeServer(server)
      await operator.stop()
      await kube.stop()
    },
  }
}
