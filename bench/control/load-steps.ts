// Processor time and heap of each step in which a proxy loads its first configuration, without an API server: the
// objects of the delivery, then the steps of the main thread, then those of one worker.
// Run: node --max-semi-space-size=8 bench/control/load-steps.ts [routes] [--write FOLDER]
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { runAll } from '#api/incremental/steps.ts'
import { configDelta } from '#api/ir/config-delta.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { MemoryObjects } from '#operator/publish/memory-objects.testing.ts'
import { DeliveryPlanner } from '#operator/publish/plan-delivery.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { EndpointStore } from '#proxy/backend/endpoint-store.ts'
import { SharedEndpoints } from '#proxy/backend/shared-endpoints.ts'
import { compileConfig } from '#proxy/config/compile.ts'
import type { CompileEnvironment } from '#proxy/config/compile-environment.ts'
import { SharedRateLimits } from '#proxy/policy/limits/shared-rate-limits.ts'
import { NOTHING_RECEIVED, receivedSteps } from '#proxy/runtime/received-config.ts'
import { slicedChange } from '#proxy/runtime/sliced-change.ts'
import { clusterOf, gateway, GATEWAY, NAMESPACE, SETTINGS } from './cluster.ts'
import { MeasuredSteps } from './measured-steps.ts'

const UPSTREAM = { ip: '10.1.2.3', port: 80 }
const PORT = 18_480

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'string' } } })
const routes = Number(positionals[0] ?? 20_000)

/** The objects of the delivery, as the controller writes them. */
function delivered(): MemoryObjects {
  const { perGateway } = translate(snapshotOf(clusterOf(routes, { port: PORT, upstream: UPSTREAM })), SETTINGS)
  const rendered = perGateway.get(`${NAMESPACE}/${GATEWAY}`)
  if (rendered === undefined) throw new Error('the Gateway was not rendered')
  const held = new MemoryObjects()
  const encoded = new ChunkEncoder().encode({ ...rendered, salt: 'salt' })
  // The fields of an object that a delivery reads.
  const object = { ...gateway(PORT).object, metadata: { name: GATEWAY, uid: 'u', generation: 1 } } as unknown as Gateway
  const plan = new DeliveryPlanner().plan({ held, generation: 0, gateway: object, pods: 1, encoded })
  if (plan.problem !== undefined) throw new Error(plan.problem.message)
  for (const one of [...plan.before, ...plan.after]) held.write(one)
  return held
}

/** As the kubelet mounts them. */
function write(held: MemoryObjects, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const files of held.all().values()) {
    for (const [name, content] of files) writeFileSync(join(folder, name), content)
  }
}

const held = delivered()
if (values.write !== undefined) write(held, values.write)
const steps = new MeasuredSteps()
const decoder = new DeliveryDecoder()
const outcome = steps.run('unpack, parse and check the delivery', () => decoder.decode(held.file))
if ('fault' in outcome) throw new Error(outcome.fault.message)
const { config, secrets } = outcome.delivered
const endpoints = steps.run('places of endpoints', () => SharedEndpoints.of(config, 1)).shared
const rateLimits = steps.run('places of rate limits', () => SharedRateLimits.of(config)).shared
const { message } = steps.run('write it for a worker', () =>
  slicedChange({
    type: 'config',
    generation: 1,
    delta: configDelta(emptyConfig(), config),
    secrets,
    rateLimits: { ...rateLimits, slots: rateLimits.slots.since(NOTHING_RECEIVED.rateLimits.slots) },
    endpoints: { ...endpoints, slots: endpoints.slots.since(NOTHING_RECEIVED.endpoints.slots) },
  }),
)
const received = steps.run('worker: read it', () => runAll(receivedSteps(NOTHING_RECEIVED, message)))
const compiled = steps.run('worker: index and compile', () => {
  // The part of the environment that compilation uses; only requests use the rest, and there are no requests.
  const environment = { endpoints: new EndpointStore(received.endpoints, 0), observer: {} }
  const input = { generation: 1, config: received.config, secrets: received.secrets }
  return compileConfig(input, environment as unknown as CompileEnvironment, undefined)
})
console.log(`${config.routes.length} rules of ${routes} routes on ${compiled.binds.size} port`)
console.table(steps.rows())
