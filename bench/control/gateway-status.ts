// Processor time of the facts for the status of one Gateway with many proxies, after each acknowledgement.
// Run: node bench/control/gateway-status.ts [--pods 2000]
import { parseArgs } from 'node:util'
import { acknowledgementPatch } from '#api/delivery/acknowledgement.ts'
import { deliveryNames, GATEWAY_NAME_LABEL } from '#api/delivery/names.ts'
import { gatewayStatusFacts } from '#operator/controllers/gateway-facts.ts'
import { ACKNOWLEDGEMENTS, PROXY_POD } from '#operator/controllers/sources.ts'
import type { World } from '#operator/controllers/world.ts'
import { ObjectCache } from '#operator/kube/cache.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { GATEWAY, NAMESPACE } from './cluster.ts'

const ROUNDS = 200
const WARM_UP_ROUNDS = 50

const { values } = parseArgs({ options: { pods: { type: 'string', default: '2000' } } })
const pods = Array.from({ length: Number(values.pods) }, (_, index) => `${GATEWAY}-${index}`)
const cache = new ObjectCache()
let version = 0
const put = (into: string, object: object): void => {
  const { kind, metadata, ...rest } = object as KubeObject
  const stored = { resourceVersion: String(++version), namespace: NAMESPACE, ...metadata }
  cache.put(into, { ...rest, kind, metadata: stored })
}

const shards = deliveryNames(GATEWAY).acknowledgements
function acknowledge(shard: number): void {
  const ours = pods.filter((_, index) => index % shards.length === shard)
  const one = { generation: version, gatewayGeneration: 1, gatewayUid: 'uid', revision: 'r', reads: 2 }
  const patches = ours.map((pod) => acknowledgementPatch(pod, one) as { readonly data: object })
  const data: unknown = Object.assign({}, ...patches.map((patch) => patch.data))
  const labels = { 'gw.dev/delivery': 'acknowledgements' }
  put(ACKNOWLEDGEMENTS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: shards[shard], labels }, data })
}

const metadata = { name: GATEWAY, namespace: NAMESPACE, uid: 'uid', generation: 1 }
const gateway = { apiVersion: 'gateway.networking.k8s.io/v1' as const, kind: 'Gateway' as const, metadata }
const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }))
for (const name of pods) {
  const labels = { [GATEWAY_NAME_LABEL]: GATEWAY }
  put(PROXY_POD, { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, status: { conditions } })
}
const status = { observedGeneration: 1, replicas: pods.length, availableReplicas: pods.length }
put('Deployment', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: GATEWAY }, status })
for (const shard of shards.keys()) acknowledge(shard)

// Only these parts are read.
const world = { cache } as World
const spec = { gatewayClassName: 'gw', listeners: [] }
const known = { deployProblems: [], failure: undefined, leftOut: undefined }
let spent = 0
for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
  acknowledge(round % shards.length)
  const before = process.cpuUsage()
  const { readyPods, acknowledgements } = gatewayStatusFacts(world, { ...gateway, spec }, known)
  const { user, system } = process.cpuUsage(before)
  if (round >= WARM_UP_ROUNDS) spent += (user + system) / 1000
  if (readyPods?.size !== pods.length || acknowledgements.size !== pods.length) throw new Error('not all pods count')
}
console.log(`${pods.length} proxies: ${(spent / ROUNDS).toFixed(2)} ms for each status`)
