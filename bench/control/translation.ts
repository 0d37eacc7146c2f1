// Processor time of one translation after one change of each kind, in large clusters, without an API server: list of
// the cache, snapshot, translation, and the statuses to compare, as in the controller.
// Run: node bench/control/translation.ts [--only 'one Gateway'] [--change route] [--rounds 21] [--json]
import { parseArgs } from 'node:util'
import { KnownStatuses } from '#operator/controllers/known-statuses.ts'
import { ObjectCache } from '#operator/kube/cache.ts'
import { TRANSLATED } from '#operator/kube/resources.ts'
import { createTranslator } from '#operator/translate/cluster/translator.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { createSnapshotter } from '#operator/translate/snapshot.ts'
import { medianOf } from '../figures.ts'
import { NAMESPACE, nameOf } from './cluster.ts'
import { type ClusterSize, gatewayName, largeCluster } from './large-cluster.ts'

const SIZES: Readonly<Record<string, ClusterSize>> = {
  'one Gateway, 1,000 routes, 250 policies': { gateways: 1, routes: 1000, policies: 250 },
  'one Gateway, 20,000 routes, 5,000 policies': { gateways: 1, routes: 20_000, policies: 5000 },
  'one Gateway, 20,000 routes, a policy each': { gateways: 1, routes: 20_000, policies: 20_000 },
  '1,000 Gateways, 20 routes and 5 policies each': { gateways: 1000, routes: 20_000, policies: 5000 },
}

const SETTINGS = {
  controllerName: 'gw.dev/controller',
  className: 'gw',
  clusterDomain: 'cluster.local',
  areEndpointsComplete: true,
}
const KINDS = Object.keys(TRANSLATED)
/** Before V8 has optimized the code. */
const WARM_UP_ROUNDS = 10
/** Of each route. */
const RULES = 2

const TEXT = { type: 'string' } as const
const { values } = parseArgs({
  options: { only: TEXT, change: TEXT, rounds: TEXT, json: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds ?? 21)

/** Milliseconds of processor time. */
export interface TranslationTimes {
  readonly cluster: string
  readonly change: string
  readonly median: number
  readonly max: number
}

/** In order. */
const noted: TranslationTimes[] = []

function note(one: TranslationTimes): void {
  noted.push(one)
  const { cluster, change, median, max } = one
  if (!values.json) console.log(`${cluster}, ${change}: median ${median.toFixed(1)} ms, max ${max.toFixed(1)} ms`)
}

function measureAll(title: string, size: ClusterSize): void {
  const cache = new ObjectCache()
  let version = 0
  const put = (object: KubeObject): void => cache.put(object.kind, versioned(object, ++version))
  for (const object of largeCluster(size)) put(object)
  const [snapshotOf, translator, statuses] = [createSnapshotter(), createTranslator(SETTINGS), new KnownStatuses()]
  const translate = (): void => {
    const translation = translator.translate(snapshotOf(...KINDS.map((kind) => cache.views(kind))))
    statuses.take(translation.statuses)
    const [gateway] = translation.perGateway.values()
    const expected = (size.routes / size.gateways) * RULES
    if (gateway?.config.routes.length !== expected) throw new Error(`expected ${expected} rules at the first Gateway`)
  }
  const first = cpuOf(translate)
  note({ cluster: title, change: 'from nothing', median: first, max: first })
  for (const [what, change] of Object.entries(CHANGES)) {
    if (!what.includes(values.change ?? '') || size.gateways < (change.gatewaysMin ?? 1)) continue
    const times: number[] = []
    for (let round = 0; round < rounds + WARM_UP_ROUNDS; round++) {
      put(change.make(cache, round))
      const took = cpuOf(translate)
      if (round >= WARM_UP_ROUNDS) times.push(took)
    }
    note({ cluster: title, change: what, median: medianOf(times), max: Math.max(...times) })
  }
}

function cpuOf(run: () => void): number {
  const started = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

/** As the API server stores it. */
function versioned(object: KubeObject, version: number): KubeObject {
  const { kind, metadata } = object
  const times = { creationTimestamp: '2026-01-01T00:00:00Z', generation: version, resourceVersion: String(version) }
  return { ...object, metadata: { ...metadata, ...times, uid: `${kind}-${metadata.name}` } }
}

interface Change {
  readonly make: (cache: ObjectCache, round: number) => KubeObject
  /** Of a cluster in which it can be measured. */
  readonly gatewaysMin?: number
}

const CHANGES: Readonly<Record<string, Change>> = {
  'changed route': ofSpec('HTTPRoute', nameOf(1), (round) => ({ hostnames: [`v${round}.example.com`] })),
  'route to another Service': ofSpec('HTTPRoute', nameOf(3), (round) => ({
    // Its own one, which no other route has, or that of another route.
    rules: rulesTo(nameOf(round % 2 === 0 ? 3 : 100 + round)),
  })),
  'route to another listener': ofSpec('HTTPRoute', nameOf(5), (round) => ({
    parentRefs: [{ name: gatewayName(0), sectionName: round % 2 === 0 ? 'other' : 'http' }],
  })),
  'route to another Gateway': {
    ...ofSpec('HTTPRoute', nameOf(25), (round) => ({
      parentRefs: [{ name: gatewayName(1 + (round % 2)), sectionName: 'http' }],
    })),
    gatewaysMin: 3,
  },
  'port of a Service': ofSpec('Service', nameOf(6), (round) => ({
    ports: [
      { name: 'http', port: 80 },
      { name: 'more', port: 81 + round },
    ],
  })),
  'changed endpoint': {
    make: (cache, round) => ({
      ...found(cache, 'EndpointSlice', `${nameOf(1)}-1`),
      endpoints: [{ addresses: [`10.200.0.${round}`], conditions: { ready: true } }],
    }),
  },
  'changed policy': ofSpec('GwPolicy', nameOf(1), (round) => ({
    traffic: { csrf: { additionalOrigins: [`v${round}.example.com`] } },
  })),
  'policy with another target': ofSpec('GwPolicy', nameOf(2), (round) => ({
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: nameOf(round) }],
  })),
  'changed Secret of a policy': ofContent('Secret', nameOf(1)),
  'unrelated Secret': ofContent('Secret', 'unrelated'),
  'unrelated ConfigMap': ofContent('ConfigMap', 'unrelated'),
  'unrelated Namespace': ofLabels('Namespace', 'unrelated'),
  'labels of the Namespace': ofLabels('Namespace', NAMESPACE),
  'annotation of a Gateway': {
    make: (cache, round) => {
      const gateway = found(cache, 'Gateway', gatewayName(0))
      return { ...gateway, metadata: { ...gateway.metadata, annotations: { round: String(round) } } }
    },
  },
  'a listener without routes': ofSpec('Gateway', gatewayName(0), (round) => ({
    listeners: [
      { name: 'http', port: 80, protocol: 'HTTP' },
      { name: 'other', port: 82 + round, protocol: 'HTTP' },
    ],
  })),
}

function rulesTo(name: string): object[] {
  return [{ backendRefs: [{ name, port: 80 }] }, { backendRefs: [{ name, port: 80 }] }]
}

function ofSpec(kind: string, name: string, fields: (round: number) => object): Change {
  return {
    make: (cache, round) => {
      const object: KubeObject & { readonly spec?: unknown } = found(cache, kind, name)
      return { ...object, spec: { ...Object(object.spec), ...fields(round) } }
    },
  }
}

function ofContent(kind: string, name: string): Change {
  return {
    make: (cache, round) => ({
      ...found(cache, kind, name),
      data: { Authorization: Buffer.from(`key ${round}`).toString('base64') },
    }),
  }
}

function ofLabels(kind: string, name: string): Change {
  return {
    make: (cache, round) => {
      const object = found(cache, kind, name)
      return { ...object, metadata: { ...object.metadata, labels: { round: String(round) } } }
    },
  }
}

function found(cache: ObjectCache, kind: string, name: string): KubeObject {
  const object = cache.get(kind, kind === 'Namespace' ? '' : NAMESPACE, name)
  if (object === undefined) throw new Error(`the cluster has no ${kind} ${name}`)
  return object
}

for (const [title, size] of Object.entries(SIZES)) {
  if (title.includes(values.only ?? '')) measureAll(title, size)
}
if (values.json) console.log(JSON.stringify(noted))
