import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { keepItems } from '#api/ir/keep-items.ts'
import type { RenderedConfig, Workload } from '#api/ir/types.gen.ts'
import { EndpointPlaces } from './endpoint-places.ts'
import { EndpointStore, readFigures } from './endpoint-store.ts'
import { SharedEndpoints } from './shared-endpoints.ts'

const MINUTE_MS = 60_000
const FRESH = { health: 1, consecutiveFailures: 0, timesEjected: 0, totalRequests: 0, pendingRequests: 0 }

const workload: fc.Arbitrary<Workload> = fc.record({
  uid: fc.constantFrom('u', 'v', 'w', 'x', 'y', 'z'),
  addresses: fc.constantFrom([], ['10.0.0.1'], ['10.0.0.2'], ['10.0.0.3']),
  healthy: fc.boolean(),
  services: fc
    .subarray(['a', 'b'])
    .map((hosts) => hosts.map((hostname) => ({ namespace: 'n', hostname, ports: [{ port: 80, targetPort: 8080 }] }))),
})
const backend = fc.record({
  key: fc.constantFrom('n/k', 'n/l'),
  name: fc.constant({ namespace: 'n', name: 'k' }),
  static: fc.record({ host: fc.constantFrom('h', 'i'), port: fc.constant(80) }),
})
const configs: fc.Arbitrary<RenderedConfig[]> = fc.array(
  fc
    .record({
      workloads: fc.uniqueArray(workload, { selector: ({ uid }) => uid }),
      backends: fc.uniqueArray(backend, { selector: ({ key }) => key }),
    })
    .map((lists) => ({ ...emptyConfig(), ...lists })),
  { minLength: 1, maxLength: 7 },
)

/** Written from a configuration. */
function expectedKeys({ workloads, backends }: RenderedConfig): Set<string> {
  const ofWorkloads = workloads.flatMap(({ addresses: [address], services }) =>
    services.flatMap(({ namespace, hostname, ports }) =>
      address === undefined
        ? []
        : ports.map((one) => `service/${namespace}/${hostname}:${one.port}|${address}:${one.targetPort}`),
    ),
  )
  return new Set([...ofWorkloads, ...backends.map((one) => `${one.key}|${one.static?.host}:${one.static?.port}`)])
}

describe('SharedEndpoints', () => {
  it('has a separate place for each endpoint, keeps the places of existing ones, and leaves no trace of others', () => {
    fc.assert(
      fc.property(configs, (all) => {
        let last = emptyConfig()
        let known = SharedEndpoints.of(last, 1)
        for (const read of all) {
          const now = keepItems(last, read)
          const next = known.after(now)
          const [before, slots] = [known.shared.slots, next.shared.slots]
          const places = [...slots.entries()]
          expect(new Set(places.map(([key]) => key))).toEqual(expectedKeys(now))
          expect(new Set(places.map(([, slot]) => slot)).size).toBe(places.length)
          const former = new Set([...before.entries()].map(([, slot]) => slot))
          for (const [key, slot] of places) {
            if (before.get(key) !== undefined) expect(slot).toBe(before.get(key))
            // Workers may still run the previous configuration.
            else expect(former.has(slot)).toBe(false)
            const figures = readFigures(next.shared, key)
            if (before.get(key) === undefined) expect(figures).toMatchObject(FRESH)
            new EndpointStore(next.shared, 0).state(key).failed()
          }
          known = next
          last = now
        }
      }),
    )
  })

  it('uses no more memory than is in use or was just released', () => {
    let places = EndpointPlaces.of(['0', '1'], 1)
    const size = (): number => places.shared.buffer.byteLength
    const first = size()
    for (let at = 2; at < 100; at++) places = places.after({ come: [String(at)], gone: [String(at - 2)] })
    expect(size()).toBe(first * 1.5)
  })
})

describe('EndpointPlaces', () => {
  it('reuses the slot of a removed endpoint one configuration later; late requests change nothing', () => {
    const first = EndpointPlaces.of(['old'], 1)
    const old = new EndpointStore(first.shared, 0).state('old')
    old.begin()
    const second = first.after({ come: ['x'], gone: ['old'] })
    expect(second.shared.slots.get('x')).not.toBe(first.shared.slots.get('old'))
    const { shared } = second.after({ come: ['new'], gone: [] })
    expect(shared.slots.get('new')).toBe(first.shared.slots.get('old'))
    old.failed()
    old.evict(MINUTE_MS, MINUTE_MS, undefined)
    expect(readFigures(shared, 'new')).toMatchObject(FRESH)
  })

  it('moves to larger memory with its data', () => {
    const small = EndpointPlaces.of(['a', 'b'], 1)
    const state = new EndpointStore(small.shared, 0).state('a')
    state.begin()
    state.begin()
    state.failed()
    const come = Array.from({ length: 131_072 }, (_, i) => `more ${i}`)
    const { shared } = small.after({ come, gone: ['b'] })
    expect(shared.buffer).not.toBe(small.shared.buffer)
    expect(readFigures(shared, 'a')).toMatchObject({ consecutiveFailures: 1, totalRequests: 2, pendingRequests: 0 })
    expect(readFigures(shared, 'b')).toBeUndefined()
    expect(readFigures(shared, 'more 7')).toMatchObject(FRESH)
  })
})
