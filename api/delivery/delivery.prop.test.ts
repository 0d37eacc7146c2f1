// What goes in comes out, and of two generations in any mixture comes out the old one, the new one, or a reason.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { emptyConfig } from '../ir/empty.ts'
import type { RenderedConfig, RenderedSecrets, Workload } from '../ir/types.gen.ts'
import { DeliveryDecoder } from './decode.ts'
import type { Files } from './document.ts'
import { type DeliveredObject, encodeDelivery, keepingPrevious } from './encode.ts'
import { deliveryNames } from './names.ts'

interface Content {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

/** Text that gzip cannot shrink makes documents of several pieces. */
function noise(seed: number, length: number): string {
  let state = seed
  let text = ''
  while (text.length < length) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    text += String.fromCodePoint(33 + ((state >>> 8) % 90))
  }
  return text
}

const service = fc.record({ name: fc.constantFrom('a', 'b'), namespace: fc.constant('shop') }).map((one) => ({
  ...one,
  hostname: `${one.name}.shop.svc.cluster.local`,
  ports: [],
}))
const workload: fc.Arbitrary<Workload> = fc.record({
  uid: fc.stringMatching(/^[a-z]{1,8}$/),
  addresses: fc.constant(['10.0.0.1']),
  healthy: fc.boolean(),
  services: fc.constant([]),
})
const content: fc.Arbitrary<Content> = fc
  .record({
    services: fc.array(service, { maxLength: 2 }),
    workloads: fc.array(workload, { maxLength: 3 }),
    port: fc.integer({ min: 1, max: 65_535 }),
    secret: fc.string(),
    size: fc.constantFrom(0, 0, 0, 0, 0, 300_000, 900_000),
    seed: fc.integer({ min: 1, max: 1000 }),
  })
  .map(({ services, workloads, port, secret, size, seed }) => ({
    config: {
      ...emptyConfig(),
      binds: [{ key: `${port}/shop/${noise(seed, size)}`, port }],
      services,
      workloads,
    },
    secrets: { version: 1, secrets: [{ key: 'shop/a/b', value: secret + noise(seed, size / 2) }] },
  }))

function encode({ config, secrets }: Content, generation: number): readonly DeliveredObject[] {
  const gateway = { name: 'web', uid: 'u', generation }
  const delivery = encodeDelivery({ gateway, config, secrets, generation, salt: 'pepper' })
  if ('problem' in delivery) throw new Error(delivery.problem.message)
  return delivery.objects
}

function filesOf(objects: Iterable<DeliveredObject>): Files {
  return new Map([...objects].flatMap(({ files }) => [...files]))
}

function decode(files: Files): ReturnType<DeliveryDecoder['decode']> {
  return new DeliveryDecoder().decode((name) => files.get(name))
}

function keyed(objects: readonly DeliveredObject[]): Map<string, DeliveredObject> {
  return new Map(objects.map((object) => [`${object.kind}/${object.name}`, object]))
}

describe('a delivery', () => {
  it('decodes to its input, and no object is larger than the API server accepts', () => {
    fc.assert(
      fc.property(content, (one) => {
        const objects = encode(one, 1)
        for (const { files } of objects) {
          const bytes = [...files].reduce((sum, [name, { length }]) => sum + name.length + length, 0)
          expect(bytes).toBeLessThan(1024 * 1024)
        }
        expect(decode(filesOf(objects))).toMatchObject({ delivered: { config: one.config, secrets: one.secrets } })
      }),
      { numRuns: runs(40) },
    )
  }, 60_000)

  it('of two generations, in any mixture of objects, is old, new or rejected', () => {
    fc.assert(
      fc.property(content, content, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (a, b, picks) => {
        const [before, after] = [keyed(encode(a, 1)), keyed(encode(b, 2))]
        const names = [...new Set([...before.keys(), ...after.keys()])]
        const mixed = names.flatMap((name, i) => (picks[i] === true ? before : after).get(name) ?? [])
        const outcome = decode(filesOf(mixed))
        if ('fault' in outcome) return
        const { config, secrets, index } = outcome.delivered
        const whole = index.generation === 1 ? a : b
        expect({ ...config, workloads: [] }).toEqual({ ...whole.config, workloads: [] })
        expect(secrets).toEqual(whole.secrets)
        // Endpoints may be those of either, but only where both have the same Services.
        const same = JSON.stringify(a.config.services) === JSON.stringify(b.config.services)
        const allowed = same ? [a.config.workloads, b.config.workloads] : [whole.config.workloads]
        expect(allowed.map((list) => JSON.stringify(list))).toContain(JSON.stringify(config.workloads))
      }),
      { numRuns: runs(60) },
    )
  }, 60_000)

  it('is never rejected while its objects are written in order over those of the previous one', () => {
    fc.assert(
      fc.property(content, content, (a, b) => {
        const live = keyed(encode(a, 1))
        const previous = new Map([...live].map(([name, { files }]) => [name, files]))
        for (const object of keepingPrevious(encode(b, 2), previous)) {
          live.set(`${object.kind}/${object.name}`, object)
          expect(decode(filesOf(live.values()))).toHaveProperty('delivered')
        }
        expect(decode(filesOf(live.values()))).toMatchObject({ delivered: { config: b.config, secrets: b.secrets } })
      }),
      { numRuns: runs(40) },
    )
  }, 60_000)

  it('is rejected with any damaged byte', () => {
    const one: Content = {
      config: { ...emptyConfig(), binds: [{ key: '80/a/b', port: 80 }] },
      secrets: { version: 1, secrets: [{ key: 'k', value: 'secret' }] },
    }
    const files = filesOf(encode(one, 1))
    const names = [...files.keys()].filter((name) => !name.includes('index'))
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 1, max: 255 }), (name, at, change) => {
        const damaged = Buffer.from(files.get(name) ?? [])
        const place = at % damaged.length
        damaged.writeUInt8(damaged.readUInt8(place) ^ change, place)
        expect(decode(new Map([...files, [name, damaged]]))).toMatchObject({ fault: { reason: 'Corrupt' } })
      }),
    )
  })

  it('is a problem if it fits into no object, not a truncated configuration', () => {
    const config = { ...emptyConfig(), binds: [{ key: noise(7, 6_000_000), port: 80 }] }
    const secrets = { version: 1 as const, secrets: [] }
    const gateway = { name: 'web', uid: 'u', generation: 1 }
    const delivery = encodeDelivery({ gateway, config, secrets, generation: 1, salt: '' })
    expect('problem' in delivery && delivery.problem).toMatchObject({ path: 'config', reason: 'TooLarge' })
  })

  it('writes nothing about a secret into its ConfigMaps', () => {
    const one = (salt: string): string => {
      const secrets = { version: 1 as const, secrets: [{ key: 'k', value: 'hunter2' }] }
      const gateway = { name: 'web', uid: 'u', generation: 1 }
      const delivery = encodeDelivery({ gateway, config: emptyConfig(), secrets, generation: 1, salt })
      if ('problem' in delivery) throw new Error(delivery.problem.message)
      return delivery.index.secrets.sha256
    }
    expect(one('a')).not.toBe(one('b'))
  })
})

describe('names of a delivery', () => {
  it('are bounded, and long ones stay different', () => {
    const [long, other] = ['x'.repeat(200), `${'x'.repeat(199)}y`]
    expect(deliveryNames(long).config[0]?.length).toBeLessThanOrEqual(70)
    expect(deliveryNames(long).config[0]).not.toBe(deliveryNames(other).config[0])
    const numbers = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)
    expect(deliveryNames('web')).toEqual({
      config: ['web-config', ...numbers(7).map((shard) => `web-config-${shard}`)],
      endpoints: ['web-endpoints', ...numbers(7).map((shard) => `web-endpoints-${shard}`)],
      secrets: ['web-secrets', ...numbers(7).map((shard) => `web-secrets-${shard}`)],
      acknowledgements: ['web-acknowledgements', ...numbers(31).map((shard) => `web-acknowledgements-${shard}`)],
    })
  })
})
