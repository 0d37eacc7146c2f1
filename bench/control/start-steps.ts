// Processor time and heap of each step of a start of the controller, without an API server: the objects of a cluster as
// JSON, as an API server sends them, then snapshot, translation, statuses and delivery.
// Run: node --max-semi-space-size=4 bench/control/start-steps.ts [routes] [unrelated objects]
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { parseOwnJson } from '#api/json.ts'
import { KnownStatuses } from '#operator/controllers/known-statuses.ts'
import { ObjectCache } from '#operator/kube/cache.ts'
import { Contents } from '#operator/kube/contents.ts'
import { TRANSLATED } from '#operator/kube/resources.ts'
import { MemoryObjects } from '#operator/publish/memory-objects.testing.ts'
import { DeliveryPlanner } from '#operator/publish/plan-delivery.ts'
import { createTranslator } from '#operator/translate/cluster/translator.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { createSnapshotter } from '#operator/translate/snapshot.ts'
import { clusterOf, endpoints, gateway, GATEWAY, NAMESPACE, nameOf, route, service, SETTINGS } from './cluster.ts'
import { unrelated } from './large-start.ts'
import { MeasuredSteps } from './measured-steps.ts'

const KINDS = Object.keys(TRANSLATED)
const UPSTREAM = { ip: '10.1.2.3', port: 80 }
const MIB = 1024 * 1024

const [routes = 20_000, unrelatedObjects = 50_000] = process.argv.slice(2).map(Number)

const steps = new MeasuredSteps()

/** With what the API server adds to each object. */
function lineOf(object: object, at: number): string {
  // A manifest.
  const { metadata, kind } = object as KubeObject
  const fields = { 'f:spec': { '.': {}, 'f:hostnames': {}, 'f:parentRefs': {}, 'f:ports': {}, 'f:rules': {} } }
  const managed = { manager: 'bench', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: fields }
  const uid = `${kind.length}${String(at).padStart(35, '0')}`
  const known = { uid, resourceVersion: String(at), generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  return JSON.stringify({ ...object, metadata: { ...metadata, ...known, managedFields: [managed] } })
}

function read(cache: ObjectCache, count: number, objectsOf: (index: number) => readonly object[]): void {
  for (let index = 0; index < count; index++) {
    for (const object of objectsOf(index)) {
      // As `object`.
      const parsed = parseOwnJson(lineOf(object, index)) as KubeObject
      cache.put(parsed.kind, parsed)
    }
  }
}

const cache = new ObjectCache(new Contents(() => false))
for (const object of clusterOf(0, { port: 80, upstream: UPSTREAM })) cache.put(object.kind, object)
steps.run('routes', () => read(cache, routes, (index) => [route(nameOf(index), 'v').object]))
steps.run('Services, EndpointSlices', () =>
  read(cache, routes, (index) => [service(nameOf(index)).object, endpoints(nameOf(index), UPSTREAM).object]),
)
steps.run('unrelated objects', () => read(cache, unrelatedObjects, (index) => [unrelated(index).object]))
const [snapshotOf, translator, statuses] = [createSnapshotter(), createTranslator(SETTINGS), new KnownStatuses()]
const snapshot = steps.run('snapshot', () => snapshotOf(...KINDS.map((kind) => cache.views(kind))))
const translation = steps.run('translation', () => cache.reading(() => translator.translate(snapshot)).result)
steps.run('statuses', () => statuses.take(translation.statuses))
const rendered = translation.perGateway.get(`${NAMESPACE}/${GATEWAY}`)
if (rendered === undefined) throw new Error('the Gateway was not rendered')
const encoder = new ChunkEncoder()
const encoded = steps.run('hashes of the delivery', () => encoder.encode({ ...rendered, salt: 'salt' }))
const planner = new DeliveryPlanner()
steps.run('packed delivery', () => {
  // A manifest of the kind.
  const object = { ...gateway(80).object, metadata: { name: GATEWAY, uid: 'u', generation: 1 } } as unknown as Gateway
  const plan = planner.plan({ held: new MemoryObjects(), generation: 0, gateway: object, pods: 1, encoded })
  if (plan.problem !== undefined) throw new Error(plan.problem.message)
})
console.log(
  `${routes} routes, ${unrelatedObjects} unrelated objects; ${(process.memoryUsage().rss / MIB).toFixed(0)} MiB of the process`,
)
console.table(steps.rows())
// What a controller keeps was alive until here.
if ([cache, snapshotOf, translator, statuses, encoder, planner].length === 0) process.exitCode = 1
