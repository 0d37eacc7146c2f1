// The operator ends in the same state whatever goes wrong on the way: dropped watches, forgotten versions, conflicts,
// refusals, lost answers and a slow server, by seeds. GW_FAULT_SEEDS says how many.
import { describe, expect, it } from 'vitest'
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import type { RunningOperator } from '#operator/controllers/operator.ts'
import { configFor, testOperator } from '../operator.ts'
import { until } from '../wait.ts'
import { type Fault, FakeKube, type FakeRequest } from './server.ts'
import type { FakeObject } from './store.ts'

const SEEDS = Number(process.env['GW_FAULT_SEEDS'] ?? 12)
const TOGETHER = 4
const STEPS = 12
const CONVERGED_MS = 60_000
const SEED_MS = 90_000

type Random = () => number

/** Mulberry32. */
function randomOf(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

type Step = (kube: FakeKube) => void

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const SLICES = 'endpointslices.discovery.k8s.io'

/** What users do, the same with and without faults. */
function stepsOf(random: Random): Step[] {
  const steps: Step[] = [
    (kube) => put(kube, GATEWAYS, gateway(80)),
    (kube) => put(kube, 'services', service()),
    (kube) => put(kube, ROUTES, route('d', 'd.example.com')),
    (kube) => put(kube, SLICES, slice('10.0.0.1')),
  ]
  for (let i = 0; i < STEPS; i++) {
    const name = pick(random, ['a', 'b', 'c'])
    const host = `${pick(random, ['x', 'y', 'z'])}.example.com`
    const address = `10.0.0.${Math.floor(random() * 250)}`
    const port = pick(random, [80, 8080])
    steps.push(
      pick<Step>(random, [
        (kube) => put(kube, ROUTES, route(name, host)),
        (kube) => put(kube, ROUTES, route(name, host)),
        (kube) => put(kube, SLICES, slice(address)),
        (kube) => put(kube, GATEWAYS, gateway(port)),
        (kube) => remove(kube, ROUTES, name),
        (kube) => remove(kube, 'configmaps', 'web-config'),
        (kube) => remove(kube, 'services', 'web'),
      ]),
    )
  }
  return steps
}

function put(kube: FakeKube, resource: string, object: FakeObject): void {
  kube.store.apply(resource, object, 'user')
}

function remove(kube: FakeKube, resource: string, name: string): void {
  if (kube.store.get(resource, `shop/${name}`) !== undefined) kube.store.delete(resource, `shop/${name}`)
}

function object(apiVersion: string, kind: string, name: string, rest: object): FakeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop' }, ...rest }
}

function gateway(port: number): FakeObject {
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  return object('gateway.networking.k8s.io/v1', 'Gateway', 'web', { spec: { gatewayClassName: 'gw', listeners } })
}

function route(name: string, host: string): FakeObject {
  const rules = [{ backendRefs: [{ name: 'cart', port: 80 }] }]
  const spec = { parentRefs: [{ name: 'web' }], hostnames: [host], rules }
  return object('gateway.networking.k8s.io/v1', 'HTTPRoute', name, { spec })
}

function service(): FakeObject {
  return object('v1', 'Service', 'cart', { spec: { ports: [{ port: 80 }] } })
}

function slice(address: string): FakeObject {
  const made = object('discovery.k8s.io/v1', 'EndpointSlice', 'cart-1', {
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ port: 8080 }],
  })
  return { ...made, metadata: { ...made.metadata, labels: { 'kubernetes.io/service-name': 'cart' } } }
}

function faultsOf(random: Random): (request: FakeRequest) => Fault | undefined {
  return ({ method, isWatch }) => {
    if (random() > 0.25) return undefined
    if (isWatch)
      return pick<Fault>(random, [{ kind: 'status', status: 410 }, { kind: 'drop' }, { kind: 'status', status: 500 }])
    const common: [Fault, ...Fault[]] = [
      { kind: 'status', status: 429, retryAfter: 0.05 },
      { kind: 'status', status: 500 },
      { kind: 'drop' },
      { kind: 'slow', ms: Math.floor(random() * 20) },
    ]
    if (method === 'GET') return pick(random, common)
    return pick<Fault>(random, [...common, { kind: 'status', status: 409 }, { kind: 'lose-answer' }])
  }
}

/** What a user and a proxy can see, without what differs from run to run. */
function stateOf(kube: FakeKube): unknown {
  const files = new Map<string, Uint8Array>()
  for (const [resource, name] of [
    ['configmaps', 'web-config'],
    ['configmaps', 'web-endpoints'],
    ['secrets', 'web-secrets'],
  ]) {
    const found = kube.store.get(resource ?? '', `shop/${name}`)
    const { data = {} } = (found ?? {}) as { data?: Record<string, string> }
    for (const [file, text] of Object.entries(data)) {
      files.set(file, Buffer.from(text, found?.kind === 'Secret' ? 'base64' : 'utf8'))
    }
  }
  const decoded = new DeliveryDecoder().decode((file) => files.get(file))
  const delivered =
    'delivered' in decoded
      ? { ...decoded.delivered, index: decoded.delivered.index.gateway.generation, revision: '' }
      : decoded
  const statuses = [GATEWAYS, ROUTES].flatMap((resource) =>
    kube.store.list(resource).map(({ metadata, status }) => [metadata.name, withoutTimes(status)]),
  )
  const owned = ['deployments.apps', 'services', 'serviceaccounts', 'configmaps', 'secrets'].flatMap((resource) =>
    kube.store.list(resource).map(({ kind, metadata }) => `${kind}/${metadata.name}`),
  )
  return { delivered, statuses, owned }
}

function withoutTimes(status: unknown): unknown {
  return JSON.parse(
    JSON.stringify(status ?? {}, (name, value: unknown) => (name === 'lastTransitionTime' ? '' : value)),
  )
}

/** Runs the steps; the end is when the state is what is expected, or when nothing is left to do. */
async function run(seed: number, isFaulty: boolean, expected?: unknown): Promise<unknown> {
  const kube = await FakeKube.start()
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  kube.store.create('namespaces', namespace)
  const random = randomOf(seed * 7919)
  if (isFaulty) kube.fault = faultsOf(random)
  const operator = await testOperator({ config: configFor(kube.url) })
  try {
    const { operator: running } = operator
    const seen = (count: number) => (): boolean => kube.requests.length >= count || running.isIdle()
    for (const step of stepsOf(randomOf(seed))) {
      step(kube)
      if (!isFaulty) continue
      if (random() < 0.2) kube.dropWatches()
      if (random() < 0.1) kube.store.compact()
      // Some steps meet a busy operator, others one that has caught up.
      await until('a few requests', seen(kube.requests.length + Math.floor(random() * 3)), CONVERGED_MS)
    }
    kube.fault = () => undefined
    const want = JSON.stringify(expected)
    const isDone = (): boolean =>
      expected === undefined ? hasCaughtUp(kube, running) && running.isIdle() : JSON.stringify(stateOf(kube)) === want
    try {
      await until('the end', isDone, CONVERGED_MS)
    } catch (error) {
      if (expected === undefined) throw error
      // The comparison of the caller shows what differs.
    }
    return stateOf(kube)
  } finally {
    await operator.stop()
    await kube.stop()
  }
}

/** The cache is what the cluster is: an idle operator has then worked on all of it. */
function hasCaughtUp(kube: FakeKube, { cache }: RunningOperator): boolean {
  const kinds = [
    [GATEWAYS, 'Gateway'],
    [ROUTES, 'HTTPRoute'],
    [SLICES, 'EndpointSlice'],
    ['services', 'Service'],
    ['deployments.apps', 'Deployment'],
  ] as const
  return kinds.every(([resource, kind]) => {
    const known = [...cache.all(kind)].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    const stored = kube.store.list(resource).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    return JSON.stringify(known.sort()) === JSON.stringify(stored.sort()) && stored.length > 0
  })
}

describe('the operator under faults', () => {
  const groups = Array.from({ length: Math.ceil(SEEDS / TOGETHER) }, (_, group) => group)
  it.each(groups)(
    'ends as without them, group of seeds %i',
    async (group) => {
      const seeds = Array.from({ length: TOGETHER }, (_, i) => group * TOGETHER + i + 1).filter((seed) => seed <= SEEDS)
      const pairs = await Promise.all(
        seeds.map(async (seed) => {
          const expected = await run(seed, false)
          return { seed, expected, actual: await run(seed, true, expected) }
        }),
      )
      for (const { seed, expected, actual } of pairs) expect(actual, `seed ${seed}`).toEqual(expected)
    },
    SEED_MS * 2,
  )
})
