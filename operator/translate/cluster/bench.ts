// Measures translation of one Gateway with many HTTPRoutes, a Service and two Pods behind each, from nothing and after
// one change, the snapshot included, in CPU time. Run: node operator/translate/cluster/bench.ts [routes ...]
import type { KubeObject } from '../kube.ts'
import { createSnapshotter, snapshotOf } from '../snapshot.ts'
import { translate } from './translate.ts'
import { createTranslator } from './translator.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const ROUNDS = 15
const WARM_UP_ROUNDS = 5
const TENTH = 10

const counts = process.argv.slice(2).map(Number)
for (const count of counts.length === 0 ? [1000, 5000] : counts) measureAll(count)

function measureAll(count: number): void {
  const objects = clusterOf(count)
  measure(`${count} routes, from nothing`, () => {
    const { perGateway } = translate(snapshotOf(objects), SETTINGS)
    const routes = perGateway.get('gw/edge')?.config.routes.length
    if (routes !== count) throw new Error(`expected ${count} routes, got ${routes}`)
  })
  for (const kind of ['HTTPRoute', 'EndpointSlice', 'Secret', 'nothing']) {
    const snapshot = createSnapshotter()
    const translator = createTranslator(SETTINGS)
    translator.translate(snapshot(objects))
    measure(`${count} routes, one ${kind} changed`, (round) => {
      const at = objects.findIndex((object) => object.kind === kind && object.metadata.name === `app-${round * TENTH}`)
      const object = objects[at]
      if (object !== undefined) objects[at] = { ...object, metadata: { ...object.metadata, generation: round + 2 } }
      translator.translate(snapshot(objects))
    })
  }
}

function measure(title: string, run: (round: number) => void): void {
  const times: number[] = []
  for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round++) {
    const started = process.cpuUsage()
    run(round)
    const { user, system } = process.cpuUsage(started)
    if (round >= WARM_UP_ROUNDS) times.push((user + system) / 1000)
  }
  times.sort((a, b) => a - b)
  console.log(`${title}: median ${times[ROUNDS >> 1]?.toFixed(1)} ms, max ${times.at(-1)?.toFixed(1)} ms`)
}

function clusterOf(count: number): KubeObject[] {
  const list: unknown[] = [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'gw', generation: 1 },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
  ]
  for (let index = 0; index < count; index++) list.push(...objectsOf(index))
  // The literals above and below have the shape of their kinds.
  return list as KubeObject[]
}

function objectsOf(index: number): unknown[] {
  const name = `app-${index}`
  const metadata = { name, namespace: 'gw', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ name: 'http', port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [
        { addresses: [`10.0.${index >> 8}.${index & 255}`], targetRef: { kind: 'Pod', name: `${name}-a` } },
        { addresses: [`10.1.${index >> 8}.${index & 255}`], targetRef: { kind: 'Pod', name: `${name}-b` } },
      ],
      ports: [{ name: 'http', port: 8080 }],
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata,
      spec: {
        parentRefs: [{ name: 'edge' }],
        hostnames: [`${name}.example.com`],
        rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [{ name, port: 80 }] }],
      },
    },
    ...(index % TENTH === 0 ? withSecret(metadata) : []),
  ]
}

/** Every tenth route has a policy that reads a Secret. */
function withSecret(metadata: { readonly name: string }): unknown[] {
  const { name } = metadata
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { Authorization: `key of ${name}` } },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata,
      spec: {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name }],
        traffic: { csrf: {} },
        backend: { auth: { secretRef: { name } } },
      },
    },
  ]
}
