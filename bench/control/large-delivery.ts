// The delivery of a large Gateway without an API server: 20,000 Services with 5 endpoints each, with names as in real
// clusters, 2,000 certificates with their keys, and one list of users of 900 KB. Its size, its parts, its times.
import { createHash } from 'node:crypto'
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import { sizeOf } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig, RenderedSecrets, Service, Workload } from '#api/ir/types.gen.ts'
import { fillOf } from '#operator/publish/fill.ts'
import { MemoryObjects } from '#operator/publish/memory-objects.testing.ts'
import { DeliveryPlanner } from '#operator/publish/plan-delivery.ts'
import { GATEWAY } from './cluster.ts'

export interface LargeDelivery {
  readonly services: number
  readonly endpoints: number
  readonly certificates: number
}

export const LARGE: LargeDelivery = { services: 20_000, endpoints: 5, certificates: 2000 }

const WORDS = ['checkout', 'payments', 'inventory', 'search', 'catalog', 'orders', 'profile', 'shipping', 'billing']
/** A certificate of 2,048 bits, and its key, as PEM files. */
const CERTIFICATE_CHARS = 1300
const KEY_CHARS = 1704
const USERS_CHARS = 900_000
const SERVICES_OF_NAMESPACE = 40

/** A row for each change. Throws if something has no room. */
export function measureLargeDelivery(
  large: LargeDelivery,
): Record<'all of it' | 'a changed endpoint' | 'a changed certificate', Delivered> {
  const encoder = new ChunkEncoder()
  const planner = new DeliveryPlanner()
  const decoder = new DeliveryDecoder()
  const held = new MemoryObjects()
  // The fields of an object that a delivery reads.
  const gateway = { metadata: { name: GATEWAY, uid: 'u', generation: 1 } } as unknown as Gateway
  const deliver = (config: RenderedConfig, secrets: RenderedSecrets): Delivered => {
    const started = process.cpuUsage()
    const encoded = encoder.encode({ config, secrets, salt: 'salt' })
    const plan = planner.plan({ held, generation: 0, gateway, pods: 1, encoded })
    if (plan.problem !== undefined) throw new Error(plan.problem.message)
    const leftOut = encoded.secrets.leftOut.length
    if (leftOut > 0) throw new Error(`${leftOut} Secrets have no room`)
    const controllerMs = cpuMsSince(started)
    const objects = [...plan.before, ...plan.after]
    for (const object of objects) held.write(object)
    const reading = process.cpuUsage()
    const outcome = decoder.decode(held.file)
    if ('fault' in outcome) throw new Error(outcome.fault.message)
    const bytes = objects.reduce((sum, { files }) => sum + sizeOf(files), 0)
    return { objects: objects.length, bytes, controllerMs, proxyMs: cpuMsSince(reading), fill: fillOf(objects) }
  }
  const config = configOf(large)
  const secrets = secretsOf(large)
  const first = deliver(config, secrets)
  const [workload] = config.workloads
  const moved = {
    ...config,
    workloads: workload === undefined ? [] : config.workloads.with(0, { ...workload, addresses: ['10.9.9.9'] }),
  }
  const [certificate] = secrets.secrets
  const rotated = secrets.secrets.with(0, { key: certificate?.key ?? '', value: noise('rotated', CERTIFICATE_CHARS) })
  const rows = {
    'all of it': first,
    'a changed endpoint': deliver(moved, secrets),
    'a changed certificate': deliver(moved, { version: 1, secrets: rotated }),
  }
  return rows
}

export interface Delivered {
  readonly objects: number
  readonly bytes: number
  readonly controllerMs: number
  readonly proxyMs: number
  readonly fill: ReturnType<typeof fillOf>
}

function cpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

function configOf({ services, endpoints }: LargeDelivery): RenderedConfig {
  const all = Array.from({ length: services }, (_, at) => serviceOf(at))
  const workloads = all.flatMap((service, at) =>
    Array.from({ length: endpoints }, (_one, index) => workloadOf(service, at * endpoints + index)),
  )
  return {
    ...emptyConfig(),
    services: sorted(all, ({ hostname }) => hostname),
    workloads: sorted(workloads, ({ uid }) => uid),
  }
}

function serviceOf(at: number): Service {
  const word = (step: number): string => WORDS[(at * step) % WORDS.length] ?? ''
  const name = `${word(1)}-${word(5)}-service-${at}`
  const namespace = `team-${word(1)}-${Math.floor(at / SERVICES_OF_NAMESPACE)}`
  const hostname = `${name}.${namespace}.svc.cluster.local`
  return { name, namespace, hostname, ports: [{ port: 80, name: 'http' }] }
}

function workloadOf({ name, namespace, hostname }: Service, at: number): Workload {
  const hash = createHash('sha256').update(String(at)).digest()
  const [a = 0, b = 0, c = 0] = hash
  const pod = `${name}-${hash.toString('hex', 3, 8)}-${hash.toString('hex', 8, 11).slice(0, 5)}`
  return {
    uid: `${namespace}/${pod}`,
    name: pod,
    namespace,
    addresses: [`10.${a}.${b}.${c}`],
    node: `ip-10-${b}-${c}-${a}.eu-west-1.compute.internal`,
    zone: `eu-west-1${'abc'[at % 3]}`,
    healthy: true,
    services: [{ hostname, namespace, ports: [{ port: 80, targetPort: 8080 }] }],
  }
}

function secretsOf({ certificates }: LargeDelivery): RenderedSecrets {
  const pairs = Array.from({ length: certificates }, (_, at) => `a/certificate-${at}`).flatMap((name) => [
    { key: `${name}/tls.crt`, value: noise(`${name}.crt`, CERTIFICATE_CHARS) },
    { key: `${name}/tls.key`, value: noise(`${name}.key`, KEY_CHARS) },
  ])
  const users = { key: 'a/users/.htpasswd', value: noise('users', USERS_CHARS) }
  return { version: 1, secrets: sorted([...pairs, users], ({ key }) => key) }
}

function sorted<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Base64 text that gzip shrinks by a quarter, as that of certificates. */
function noise(seed: string, length: number): string {
  const blocks = Array.from({ length: Math.ceil(length / 88) }, (_, at) =>
    createHash('sha512').update(`${seed} ${at}`).digest('base64'),
  )
  return blocks.join('').slice(0, length)
}
