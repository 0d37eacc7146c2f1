// A part that does not fit into its objects: what is in force stays, and parts that do not depend on it are delivered.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { OBJECT_BYTES_MAX, sizeOf } from '#api/delivery/encode.ts'
import type { Bind, RenderedConfig, RenderedSecrets, Service, Workload } from '#api/ir/types.gen.ts'
import { idOf } from './delivery-objects.ts'
import { objectNamesInForce } from './files-in-force.ts'
import { MemoryObjects } from './memory-objects.testing.ts'
import { DeliveryPlanner, type DeliveryPlan } from './plan-delivery.ts'

const GATEWAY = { metadata: { name: 'web', uid: 'u', generation: 1 } } as unknown as Gateway
type RenderedSecret = RenderedSecrets['secrets'][number]

const MEBIBYTE = 1024 * 1024
const NO_SECRETS: RenderedSecrets = { version: 1, secrets: [] }

/** Text that gzip shrinks by a quarter and no more. */
function noise(seed: string, length: number): string {
  const blocks = Array.from({ length: Math.ceil(length / 88) }, (_, at) =>
    createHash('sha512').update(`${seed} ${at}`).digest('base64'),
  )
  return blocks.join('').slice(0, length)
}

const bind = (name: string, bytes = 0): Bind => ({ key: `${name}/${noise(name, bytes)}`, port: 80 })
const workload = (name: string, address: string, bytes = 0): Workload => ({
  uid: name + noise(name, bytes),
  addresses: [address],
  healthy: true,
  services: [],
})
const service = (name: string): Service => ({ name, namespace: 'shop', hostname: name, ports: [{ port: 80 }] })
const many = <T>(make: (name: string) => T): T[] => Array.from({ length: 10 }, (_, at) => make(`many-${at}`))

/** The controller of one Gateway, and what a proxy reads. */
class Delivery {
  readonly #held = new MemoryObjects()
  readonly #encoder = new ChunkEncoder()
  readonly #planner = new DeliveryPlanner()
  leftOut: readonly string[] = []

  deliver(config: Partial<RenderedConfig>, secrets = NO_SECRETS): DeliveryPlan {
    const encoded = this.#encoder.encode({ config: { ...emptyConfig(), ...config }, secrets, salt: 's' })
    this.leftOut = encoded.secrets.leftOut
    const plan = this.#planner.plan({ held: this.#held, generation: 0, gateway: GATEWAY, pods: 1, encoded })
    for (const object of [...plan.before, ...plan.after]) this.#held.write(object)
    return plan
  }

  /** `kind/name`. */
  get objects(): { readonly all: string[]; readonly named: string[] } {
    const named = objectNamesInForce(this.#held, deliveryNames('web')).map(idOf)
    return { all: [...this.#held.all().keys()].sort(), named: named.sort() }
  }

  get inForce(): { readonly config: RenderedConfig; readonly secrets: RenderedSecrets } {
    const outcome = new DeliveryDecoder().decode(this.#held.file)
    if ('fault' in outcome) throw new Error(outcome.fault.message)
    return outcome.delivered
  }
}

const BINDS = [bind('http')]
const SERVICES = [service('cart')]
const SMALL = { binds: BINDS, services: SERVICES, workloads: [workload('a', '10.0.0.1')] }
const MOVED = [workload('a', '10.0.0.2')]

function started(): Delivery {
  const delivery = new Delivery()
  expect(delivery.deliver(SMALL).problem).toBeUndefined()
  return delivery
}

describe('a delivery whose routes and policies do not fit', () => {
  const tooMany = many((name) => bind(name, MEBIBYTE))

  it.each([
    ['', SERVICES],
    [', also with another Service', [...SERVICES, service('new')]],
  ])('keeps those in force, and delivers endpoints%s', (_name, services) => {
    const delivery = started()
    expect(delivery.deliver({ binds: tooMany, services, workloads: MOVED }).problem?.path).toBe('config')
    expect(delivery.inForce.config).toMatchObject({ binds: BINDS, services: SERVICES, workloads: MOVED })
    expect(delivery.deliver({ binds: tooMany, services, workloads: MOVED }).before).toEqual([])
    const plan = delivery.deliver({ binds: BINDS, services, workloads: MOVED })
    expect(plan.problem).toBeUndefined()
    expect(delivery.inForce.config).toMatchObject({ binds: BINDS, services, workloads: MOVED })
  })

  it('is not packed again for a change of another list', () => {
    let written = 0
    const counted = { ...bind('counted'), toJSON: () => (written++, bind('counted')) }
    const delivery = started()
    const binds = [...tooMany, counted]
    delivery.deliver({ ...SMALL, binds })
    const before = written
    delivery.deliver({ ...SMALL, binds, workloads: MOVED })
    delivery.deliver({ ...SMALL, binds, services: [...SERVICES, service('new')] })
    expect(written).toBe(before)
  })

  it('writes nothing where nothing is in force', () => {
    const plan = new Delivery().deliver({ ...SMALL, binds: tooMany })
    expect(plan).toMatchObject({ before: [], after: [], problem: { path: 'config' } })
  })
})

const secret = (name: string, bytes: number): RenderedSecret => ({
  key: `shop/${name}/data`,
  value: noise(name, bytes),
})

describe('a delivery with many secrets', () => {
  // As many bytes as 2,000 certificates with their keys.
  const certificates = Array.from({ length: 2000 }, (_, at) => secret(`certificate-${at}`, 3000))
  const all: RenderedSecrets = { version: 1, secrets: [...certificates, secret('users', 900_000)] }

  it('holds 2,000 certificates and a list of users of 900 KB', () => {
    const delivery = started()
    const plan = delivery.deliver(SMALL, all)
    expect([plan.problem, delivery.leftOut]).toEqual([undefined, []])
    expect(delivery.inForce.secrets).toEqual(all)
    expect(delivery.objects.all.length).toBeGreaterThan(6)
    for (const object of plan.before) expect(sizeOf(object.files)).toBeLessThanOrEqual(OBJECT_BYTES_MAX)
  })

  it('writes one object for a changed secret', () => {
    const delivery = started()
    delivery.deliver(SMALL, all)
    const secrets = all.secrets.with(1000, { key: 'shop/certificate-1000/data', value: noise('other', 3000) })
    const plan = delivery.deliver(SMALL, { version: 1, secrets })
    expect(plan.before.filter(({ part }) => part === 'secrets')).toHaveLength(1)
    expect(delivery.inForce.secrets.secrets).toEqual(secrets)
  })

  it(
    'leaves out the largest Secrets if the objects have no room, and delivers everything else',
    { tags: ['full'] },
    () => {
      const delivery = started()
      const large = [0, 1, 2, 3, 4, 5].map((at) => secret(`large-${at}`, MEBIBYTE - at))
      const secrets = [...certificates, ...large]
      const plan = delivery.deliver({ ...SMALL, binds: [bind('new')], workloads: MOVED }, { version: 1, secrets })
      expect(plan.problem).toBeUndefined()
      expect(delivery.leftOut).toEqual(['shop/large-0', 'shop/large-1'])
      const expected = secrets.filter(({ key }) => !/large-[01]/.test(key))
      expect(delivery.inForce.secrets.secrets).toEqual(expected)
      expect(delivery.inForce.config).toMatchObject({ binds: [bind('new')], workloads: MOVED })
      delivery.deliver(SMALL, all)
      expect(delivery.leftOut).toEqual([])
    },
  )
})

it('names all objects that hold what is in force', () => {
  const delivery = started()
  const binds = many((name) => bind(name, MEBIBYTE / 4))
  const workloads = many((name) => workload(name, '10.0.0.3', MEBIBYTE / 8))
  const secrets: RenderedSecrets = { version: 1, secrets: many((name) => secret(name, MEBIBYTE / 4)) }
  expect(delivery.deliver({ ...SMALL, binds, workloads }, secrets).problem).toBeUndefined()
  const { all, named } = delivery.objects
  for (const name of ['ConfigMap/web-config-2', 'ConfigMap/web-endpoints-1', 'Secret/web-secrets-1'])
    expect(all).toContain(name)
  // Those of the index are read in any case.
  const firsts = ['ConfigMap/web-config', 'ConfigMap/web-endpoints', 'Secret/web-secrets']
  expect([...new Set([...named, ...firsts])].sort()).toEqual(all)
})

describe('a delivery whose endpoints do not fit', () => {
  const workloads = many((name) => workload(name, '10.0.0.3', MEBIBYTE))

  it('keeps those in force, and delivers routes and policies', () => {
    const delivery = started()
    expect(delivery.deliver({ ...SMALL, binds: [bind('new')], workloads }).problem?.path).toBe('endpoints')
    expect(delivery.inForce.config).toMatchObject({ binds: [bind('new')], workloads: SMALL.workloads })
  })

  it('keeps the configuration in force with other Services: their endpoints are missing', () => {
    const delivery = started()
    const services = [...SERVICES, service('new')]
    const plan = delivery.deliver({ ...SMALL, services, workloads })
    expect(plan).toMatchObject({ before: [], after: [], problem: { path: 'endpoints' } })
    expect(delivery.inForce.config).toMatchObject(SMALL)
  })
})
