// Measures translation of one Gateway with 1,000 HTTPRoutes and 1,000 Services. Run: node operator/translate/bench.ts
import type { KubeObject } from './kube.ts'
import { snapshotOf } from './snapshot.ts'
import { translate } from './translate.ts'

const COUNT = 1000
const ROUNDS = 15
const WARM_UP_ROUNDS = 3

const objects = clusterOf(COUNT)
const times: number[] = []
for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round++) {
  const started = performance.now()
  const { perGateway } = translate(snapshotOf(objects), {
    controllerName: 'gw.dev/controller',
    className: 'gw',
    clusterDomain: 'cluster.local',
  })
  const elapsed = performance.now() - started
  const routes = perGateway.get('gw/edge')?.config.routes.length
  if (routes !== COUNT) throw new Error(`expected ${COUNT} routes, got ${routes}`)
  if (round >= WARM_UP_ROUNDS) times.push(elapsed)
  else console.log(`warm-up ${round + 1}: ${elapsed.toFixed(1)} ms`)
}
times.sort((a, b) => a - b)
console.log(
  `translate, ${COUNT} HTTPRoutes and ${COUNT} Services: median ${times[ROUNDS >> 1]?.toFixed(1)} ms, ` +
    `max ${times.at(-1)?.toFixed(1)} ms of ${ROUNDS} rounds`,
)

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
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/api' }, headers: [{ name: 'X-Env', value: 'prod' }] }],
            backendRefs: [{ name, port: 80 }],
          },
        ],
      },
    },
  ]
}
