// Any history of changes, seen after each single write, by proxies that came at any time and with leaders that stop in
// the middle: a proxy has the old configuration or the new one, never a mixture, and in the end the new one.
// @module-tag full
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import { encodeDelivery, keepingPrevious, sizeOf, type DeliveredObject } from '#api/delivery/encode.ts'
import { INDEX_FILE, readDeliveryIndex } from '#api/delivery/index-file.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig, RenderedSecrets, Service, Workload } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import { MemoryObjects } from './memory-objects.testing.ts'
import { DeliveryPlanner, planDelivery } from './plan-delivery.ts'

interface Content {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

const GATEWAY = { metadata: { name: 'web', uid: 'u', generation: 1 } } as unknown as Gateway
const SALT = 'pepper'

/** Text that gzip shrinks by a quarter and no more. */
function noise(seed: number, length: number): string {
  let text = ''
  for (let at = 0; text.length < length; at++) text += createHash('sha512').update(`${seed} ${at}`).digest('base64')
  return text.slice(0, length)
}

/** One change of what a cluster has; numbers choose which. */
interface Change {
  readonly kind: 'bind' | 'wave' | 'service' | 'workload' | 'secret'
  readonly name: number
  readonly value: number
  /** Of a bind: fills objects. */
  readonly size: number
  /** Writes before the leader stops; the next one begins with what is there. */
  readonly stopsAfter: number
  readonly format: 1 | 2
  readonly pods: number
  /** Which objects a proxy sees as they are after the change. */
  readonly picks: number
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('bind', 'bind', 'wave', 'service', 'workload', 'workload', 'secret', 'secret', 'secret'),
  name: fc.integer({ min: 0, max: 60 }),
  value: fc.integer({ min: 0, max: 3 }),
  size: fc.constantFrom(10, 10, 10, 3000, 60_000, 400_000),
  stopsAfter: fc.constantFrom(1, 2, 3, 99, 99, 99),
  format: fc.constantFrom(1, 2, 2, 2, 2, 2),
  pods: fc.constantFrom(1, 1, 1, 100, 200, 2000),
  picks: fc.nat(0xffff),
})

function changed({ config, secrets }: Content, { kind, name, value, size }: Change): Content {
  const put = <T>(list: readonly T[], keyOf: (item: T) => string, item: T): T[] =>
    [...list.filter((one) => keyOf(one) !== keyOf(item)), ...(value === 0 ? [] : [item])].sort((a, b) =>
      keyOf(a) < keyOf(b) ? -1 : 1,
    )
  const port = 1000 + name * 10 + value
  const workload: Workload = { uid: `w${name}`, addresses: [`10.0.0.${value}`], healthy: true, services: [] }
  const service: Service = { name: `s${name}`, namespace: 'n', hostname: `h${name}`, ports: [{ port }] }
  const secret = { key: `n/s${name}/k`, value: noise(value, size) }
  if (kind === 'secret')
    return { config, secrets: { version: 1, secrets: put(secrets.secrets, ({ key }) => key, secret) } }
  // More than fits beside the index, and nothing of what was there.
  const wave = [0, 1, 2].map((at) => ({ key: `b${1000 + at}/${noise(name * 4 + value + at * 1000, 300_000)}`, port }))
  const next = {
    wave: { binds: wave },
    bind: {
      binds: put(config.binds, ({ key }) => key.slice(0, 5), { key: `b${1000 + name}/${noise(value, size)}`, port }),
    },
    service: { services: put(config.services, ({ hostname }) => hostname, service) },
    workload: { workloads: put(config.workloads, ({ uid }) => uid, workload) },
  }
  return { secrets, config: { ...config, ...next[kind] } }
}

interface Leader {
  readonly encoder: ChunkEncoder
  readonly planner: DeliveryPlanner
}

function newLeader(): Leader {
  return { encoder: new ChunkEncoder(), planner: new DeliveryPlanner() }
}

/** The writes that bring `content` into the objects. */
function writesOf(
  held: MemoryObjects,
  leader: Leader,
  content: Content,
  { format, pods }: Pick<Change, 'format' | 'pods'>,
): DeliveredObject[] {
  if (format === 2) {
    const encoded = leader.encoder.encode({ ...content, salt: SALT })
    const input = { held, generation: 0, gateway: GATEWAY, pods, encoded }
    const plan = leader.planner.plan(input)
    expect(plan).toEqual(planDelivery(input))
    if (plan.problem !== undefined) return (fc.pre(false), [])
    return [...plan.before, ...plan.after]
  }
  const gateway = { name: 'web', uid: 'u', generation: 1 }
  // As the publisher of documents does: never a previous number, because endpoint indexes are named by it.
  const index = readDeliveryIndex(held.file(INDEX_FILE) ?? new Uint8Array())
  const generation = 'index' in index ? index.index.generation + 1 : 1
  const delivery = encodeDelivery({ gateway, ...content, generation, salt: SALT })
  if ('problem' in delivery) return (fc.pre(false), [])
  return keepingPrevious(delivery.objects, held.all())
}

function textOf({ config, secrets }: Content): string {
  return JSON.stringify([{ ...config, workloads: [] }, secrets])
}

type Seen = ReturnType<DeliveryDecoder['decode']>

/** Old or new, and endpoints only of one that has the same Services. */
function expectOneOf(seen: Seen, before: Content, after: Content): void {
  if ('fault' in seen) throw new Error(seen.fault.message)
  const { config } = seen.delivered
  const whole = [before, after].filter((one) => textOf(one) === textOf(seen.delivered))
  expect(whole.length).toBeGreaterThan(0)
  const services = JSON.stringify(config.services)
  const allowed = [before, after].filter((one) => JSON.stringify(one.config.services) === services)
  const workloads = allowed.map((one) => JSON.stringify(one.config.workloads))
  expect(workloads).toContain(JSON.stringify(config.workloads))
}

/**
 * Whole documents that fill an object leave no room there for what was in force, so that a proxy which starts before
 * their index is written has to wait for it; one that runs keeps what it has.
 */
function isBetweenDocuments(seen: Seen, { format }: Change): boolean {
  return format === 1 && 'fault' in seen && seen.fault.reason === 'Incomplete'
}

function expectSeen(seen: Seen, change: Change, [before, after]: [Content, Content]): void {
  if (!isBetweenDocuments(seen, change)) expectOneOf(seen, before, after)
}

/** Whoever leads has nothing more to write. */
function expectAtRest(
  held: MemoryObjects,
  { format, pods }: Change,
  leaders: readonly Leader[],
  content: Content,
): void {
  if (format === 1) return
  for (const leader of leaders) expect(writesOf(held, leader, content, { format: 2, pods })).toEqual([])
}

describe('planDelivery', () => {
  it('shows the old or the new configuration after every write, whoever wrote before', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
        const held = new MemoryObjects()
        const follower = new DeliveryDecoder()
        let leader = newLeader()
        // What a proxy may have: the last whole delivery, or what a leader that stopped had begun.
        let content: Content = { config: emptyConfig(), secrets: { version: 1, secrets: [] } }
        for (const object of writesOf(held, leader, content, { format: 2, pods: 1 })) held.write(object)
        let inForce = content
        for (const one of changes) {
          content = changed(content, one)
          const before = new MemoryObjects(held.all())
          const writes = writesOf(held, leader, content, one)
          for (const object of writes.slice(0, one.stopsAfter)) {
            held.write(object)
            expect(sizeOf(object.files)).toBeLessThan(1024 * 1024)
            const fresh = new DeliveryDecoder().decode(held.file)
            const followed = follower.decode(held.file)
            expectSeen(followed, one, [inForce, content])
            if (!isBetweenDocuments(fresh, one)) expect(followed).toEqual(fresh)
          }
          if (one.stopsAfter < writes.length) {
            leader = newLeader()
            for (const object of writesOf(held, leader, content, one)) {
              held.write(object)
              expectSeen(new DeliveryDecoder().decode(held.file), one, [inForce, content])
            }
          }
          expect(new DeliveryDecoder().decode(held.file)).toMatchObject({ delivered: content })
          // Watches of several objects do not keep the order of writes.
          const mixed = new MemoryObjects(before.all())
          const ids = [...held.all()].filter((_, at) => (one.picks >> at) % 2 === 1)
          for (const [id, files] of ids) mixed.set(id, files)
          const seen = new DeliveryDecoder().decode(mixed.file)
          // Endpoint indexes of whole documents are named by the Services alone, and come back with them.
          if (one.format === 2 && !('fault' in seen)) expectOneOf(seen, inForce, content)
          if ('fault' in seen) expect(seen.fault.reason).toBe('Incomplete')
          expectAtRest(held, one, [leader, newLeader()], content)
          inForce = content
        }
      }),
      // As it was found: looking for a smaller one takes ten minutes.
      { numRuns: runs(30, 5), endOnFailure: true, interruptAfterTimeLimit: 280_000 },
    )
  }, 300_000)
})
