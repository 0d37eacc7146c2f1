// The admin server of an operator that runs against an API server in this process, with a Gateway whose proxies are not
// all current and a route without a backend.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Effect, Exit, Scope } from 'effect'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import { LogLevels } from '#operator/admin/log.ts'
import { createMetrics } from '#operator/admin/metrics.ts'
import { startServers } from '#operator/admin/servers.ts'
import { configFor, testOperator } from '#operator/controllers/operator.testing.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const FILTER = {
  type: 'RequestHeaderModifier',
  requestHeaderModifier: { set: [{ name: 'authorization', value: 'Bearer hunter2' }] },
}
const LOOPBACK = { host: '127.0.0.1', port: 0 }

export interface ControllerDemo {
  /** URL of the admin server. */
  readonly admin: string
  stop(): Promise<void>
}

/** `bundle`: the folder of the bundle, which has the pages. */
export async function startControllerDemo(bundle: string): Promise<ControllerDemo> {
  const kube = await FakeKube.withNamespaces('gw-system', 'shop')
  kube.store.create('gateways.gateway.networking.k8s.io', {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  kube.store.create('httproutes.gateway.networking.k8s.io', {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      parentRefs: [{ name: 'web' }],
      rules: [
        { name: 'pay', matches: [{ method: 'POST' }], backendRefs: [{ name: 'missing', port: 80 }] },
        { name: 'show', filters: [FILTER], backendRefs: [{ name: 'cart', port: 80 }] },
      ],
    },
  })
  kube.store.create('services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { ports: [{ name: 'http', port: 80 }], selector: { app: 'cart' } },
  })
  kube.store.create('gwpolicies.gw.dev', {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name: 'origins', namespace: 'shop' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }],
      traffic: { cors: { allowOrigins: ['https://shop.example.com'] } },
    },
  })
  const running = await testOperator({ config: configFor(kube.url) })
  await until('the operator has written', () => running.operator.isReady() && running.operator.isIdle())
  acknowledge(kube, { 'web-a': 7, 'web-b': 5 })
  const scope = Effect.runSync(Scope.make())
  const parts = {
    settings: { health: LOOPBACK, metrics: LOOPBACK, admin: LOOPBACK },
    levels: new LogLevels('info'),
    metrics: createMetrics({ hasRuntimeMetrics: false, build: { commit: 'abc', date: '2026-01-01' } }),
    isReady: () => true,
    pending: () => [],
    snapshot: () => ({}),
    overview: () => running.operator.overview(),
    gateway: (key: string) => running.operator.gateway(key),
    configuration: (key: string) => running.operator.configuration(key),
    uiFolder: pathToFileURL(`${join(bundle, 'ui-controller')}/`),
  }
  const ports = await Effect.runPromise(startServers(parts).pipe(Scope.provide(scope)))
  return {
    admin: `http://127.0.0.1:${ports.admin}`,
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await running.stop()
      await kube.stop()
    },
  }
}

/** Pods with the generation of the delivery that each has in force. */
function acknowledge({ store }: FakeKube, generations: Readonly<Record<string, number>>): void {
  const entries = Object.entries(generations).map(([pod, generation]) => {
    const value: Acknowledgement = { generation, gatewayGeneration: 1, gatewayUid: 'u', revision: `r${generation}` }
    return [pod, JSON.stringify(value)] as const
  })
  const name = 'web-acknowledgements'
  const object = store.get('configmaps', `shop/${name}`)
  if (object === undefined) throw new Error('the operator has not written the ConfigMap of acknowledgements')
  store.update('configmaps', { ...object, data: Object.fromEntries(entries) }, false)
}
