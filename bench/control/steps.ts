// Processor time of each step after a change of one route or endpoint among many, without an API server.
// Run: node bench/control/steps.ts [routes ...]
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { type ChunkedDelivery, ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import { type DeliveredObject, sizeOf } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { applyDelta, configDelta } from '#api/ir/config-delta.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { KnownStatuses } from '#operator/controllers/known-statuses.ts'
import { ObjectCache } from '#operator/kube/cache.ts'
import { TRANSLATED } from '#operator/kube/resources.ts'
import { MemoryObjects } from '#operator/publish/memory-objects.testing.ts'
import { DeliveryPlanner } from '#operator/publish/plan-delivery.ts'
import { EndpointStore } from '#proxy/backend/endpoint-store.ts'
import { SharedEndpoints } from '#proxy/backend/shared-endpoints.ts'
import { compileConfig } from '#proxy/config/compile.ts'
import type { CompiledConfig } from '#proxy/config/compiled.ts'
import type { CompileEnvironment } from '#proxy/config/compile-environment.ts'
import { startProxy } from '#proxy/main.ts'
import { SharedRateLimits } from '#proxy/policy/limits/shared-rate-limits.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { createSnapshotter } from '#operator/translate/snapshot.ts'
import { createTranslator } from '#operator/translate/cluster/translator.ts'
import { freePort } from '../../test/ports.ts'
import { ON_LOOPBACK } from '../../proxy/main.testing.ts'
import { medianOf } from '../figures.ts'
import { clusterOf, endpoints, gateway, GATEWAY, NAMESPACE, route, service, SETTINGS } from './cluster.ts'

const ROUNDS = 41
const UPSTREAM = { ip: '10.1.2.3', port: 80 }
const KINDS = Object.keys(TRANSLATED)

type Change = 'route' | 'endpoint' | 'Service' | 'status'
const CHANGES: readonly Change[] = ['route', 'endpoint', 'Service', 'status']

const counts = process.argv.slice(2).map(Number)
for (const count of counts.length === 0 ? [1000, 5000] : counts) {
  for (const change of CHANGES) await measureAll(count, change)
}

async function measureAll(count: number, change: Change): Promise<void> {
  const steps = new Map<string, number[]>()
  const proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const add = (step: string, started: NodeJS.CpuUsage): void => {
    const { user, system } = process.cpuUsage(started)
    steps.set(step, [...(steps.get(step) ?? []), (user + system) / 1000])
  }
  const measured = <T>(step: string, run: () => T): T => {
    const started = process.cpuUsage()
    const result = run()
    add(step, started)
    return result
  }
  const cache = new ObjectCache()
  for (const object of clusterOf(count, { port: await freePort(), upstream: UPSTREAM })) putInto(cache, object, 0)
  const [snapshotOf, translator, statuses] = [createSnapshotter(), createTranslator(SETTINGS), new KnownStatuses()]
  const allocated: number[] = []
  const [encoder, decoder] = [new ChunkEncoder(), new DeliveryDecoder()]
  const [held, planner] = [new MemoryObjects(), new DeliveryPlanner()]
  const bytes: number[] = []
  let endpointsBefore: SharedEndpoints | undefined
  let limitsBefore: SharedRateLimits | undefined
  let compiled: CompiledConfig | undefined
  let before: RenderedConfig = emptyConfig()
  for (let round = 0; round < ROUNDS; round++) {
    const heap = process.memoryUsage().heapUsed
    measured('cache', () => putInto(cache, changedObject(change, round), round + 1))
    const snapshot = measured('snapshot', () => snapshotOf(...KINDS.map((kind) => cache.views(kind))))
    const translation = measured('translate', () => translator.translate(snapshot))
    measured('statuses', () => statuses.take(translation.statuses))
    const rendered = translation.perGateway.get(`${NAMESPACE}/${GATEWAY}`)
    if (rendered === undefined) throw new Error('the Gateway was not rendered')
    const delivery = measured('encode', () => encoder.encode({ ...rendered, salt: 'salt' }))
    const written = measured('plan', () => planned({ planner, held, delivery, generation: round }))
    const allocatedNow = process.memoryUsage().heapUsed - heap
    // Negative if garbage was collected in between.
    if (allocatedNow > 0) allocated.push(allocatedNow)
    for (const object of written) held.write(object)
    bytes.push(written.reduce((sum, { files }) => sum + sizeOf(files), 0))
    const outcome = measured('decode', () => decoder.decode(held.file))
    if (!('delivered' in outcome)) throw new Error(outcome.fault.message)
    const { config } = outcome.delivered
    measured('hand over, whole', () => structuredClone(config))
    measured('hand over, difference', () => applyDelta(before, structuredClone(configDelta(before, config))))
    const shared = measured('endpoints', () => endpointsBefore?.after(config) ?? SharedEndpoints.of(config, 1))
    endpointsBefore = shared
    limitsBefore = measured('rate limits', () => limitsBefore?.after(config) ?? SharedRateLimits.of(config))
    compiled = measured('compile', () =>
      compileConfig({ generation: round, config, secrets: rendered.secrets }, environmentOf(shared), compiled),
    )
    before = config
    // All threads: the main one and one worker, which repeats the steps measured above.
    const started = process.cpuUsage()
    const applied = await proxy.apply(config, rendered.secrets)
    if ('problem' in applied) throw new Error(applied.problem.message)
    add('put in force by a proxy', started)
  }
  await proxy.stop({ isForced: true })
  print(`${count} routes, changed ${change}`, { bytes, allocated, steps })
}

interface Figures {
  readonly bytes: readonly number[]
  readonly allocated: readonly number[]
  readonly steps: ReadonlyMap<string, readonly number[]>
}

function print(title: string, { bytes, allocated, steps }: Figures): void {
  console.log(`${title}, written: ${bytes[0]} bytes at first, then ${bytes.at(-1)} for each change`)
  const kib = (medianOf(allocated) / 1024).toFixed(0)
  console.log(`${title}, allocated by the controller: median ${kib} KiB`)
  for (const [step, times] of steps) {
    if (times.length === 1) continue
    // The first round does all the work. If the processor clock is coarse, the mean is more exact.
    const later = times.slice(1)
    const mean = later.reduce((sum, time) => sum + time, 0) / later.length
    const figures = `median ${medianOf(later).toFixed(1)} ms, mean ${mean.toFixed(1)} ms`
    console.log(`${title}, ${step}: ${figures}`)
  }
}

/** Adds the object as a watch of the API server would. */
function putInto(cache: ObjectCache, object: KubeObject, version: number): void {
  const { kind, metadata } = object
  const uid = `${kind}-${metadata.name}`
  const times = { creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, resourceVersion: String(version) }
  cache.put(kind, { ...object, metadata: { ...metadata, ...times, uid } })
}

function changedObject(change: Change, round: number): KubeObject {
  const objects = {
    route: () => route('app-0', `v${round}`).object,
    endpoint: () => endpoints('app-0', { ip: `10.1.3.${round + 1}`, port: 80 }).object,
    Service: () => {
      const { object } = service('app-0')
      // It has metadata.
      const { metadata } = object as KubeObject
      return { ...object, metadata: { ...metadata, labels: { round: String(round) } } }
    },
    status: () => ({ ...route('app-0', 'v').object, status: { parents: [], round } }),
  } satisfies { readonly [C in Change]: () => object }
  // Manifests of the kinds.
  return objects[change]() as KubeObject
}

/** The environment that compilation uses; only requests use the rest, and there are no requests. */
function environmentOf({ shared }: SharedEndpoints): CompileEnvironment {
  const environment = { endpoints: new EndpointStore(shared, 0), observer: {} }
  return environment as unknown as CompileEnvironment
}

interface Planning {
  readonly planner: DeliveryPlanner
  readonly held: MemoryObjects
  readonly delivery: ChunkedDelivery
  readonly generation: number
}

function planned({ planner, held, delivery, generation }: Planning): readonly DeliveredObject[] {
  // A manifest of the kind.
  const object = { ...gateway(80).object, metadata: { name: GATEWAY, uid: 'u', generation: 1 } } as unknown as Gateway
  const plan = planner.plan({ held, generation, gateway: object, pods: 1, encoded: delivery })
  if (plan.problem !== undefined) throw new Error(plan.problem.message)
  return [...plan.before, ...plan.after]
}
