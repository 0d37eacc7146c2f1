// The place in shared memory of each endpoint of a configuration. The main thread assigns the places; a version is
// immutable, so that a rejected configuration leaves nothing behind.
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { type EndpointBuffer, moveSlot, resetSlot, slotBytes } from './endpoint-store.ts'

/** Address space, not memory: pages are allocated when they are written. */
const SLOTS_MAX = 131_072

export interface EndpointChange {
  readonly come: Iterable<string>
  readonly gone: Iterable<string>
}

/** Free slots. */
interface Unused {
  readonly now: readonly number[]
  /** Released in this version: workers may still run the previous one. */
  readonly later: readonly number[]
  /** From here on, memory was never used. */
  readonly end: number
}

export class EndpointPlaces {
  readonly shared: EndpointBuffer
  readonly #unused: Unused

  private constructor(shared: EndpointBuffer, unused: Unused) {
    this.shared = shared
    this.#unused = unused
  }

  static of(keys: Iterable<string>, workers: number): EndpointPlaces {
    const places = new Map<string, number>()
    for (const key of keys) if (!places.has(key)) places.set(key, places.size)
    const bytes = slotBytes(workers)
    const slotsMax = Math.max(SLOTS_MAX, places.size)
    const buffer = new SharedArrayBuffer(places.size * bytes, { maxByteLength: slotsMax * bytes })
    const shared = { buffer, slots: LayeredMap.of(places), workers }
    for (const slot of places.values()) resetSlot(shared, slot)
    return new EndpointPlaces(shared, { now: [], later: [], end: places.size })
  }

  /**
   * State of existing endpoints stays in the same memory. Slots of removed endpoints are reused one
   * configuration later, under a new generation: requests that still run on the old ones change nothing then.
   */
  after({ come, gone }: EndpointChange): EndpointPlaces {
    const { buffer, slots, workers } = this.shared
    const bytes = slotBytes(workers)
    const changes = new Map<string, number | undefined>()
    const later: number[] = []
    for (const key of gone) {
      const slot = slots.get(key)
      if (slot !== undefined) later.push(slot)
      changes.set(key, undefined)
    }
    const now = [...this.#unused.now, ...this.#unused.later]
    let { end } = this.#unused
    for (const key of come) {
      if (slots.get(key) !== undefined || changes.get(key) !== undefined) continue
      const slot = now.pop() ?? end++
      if ((slot + 1) * bytes > buffer.maxByteLength) return this.#moved({ come, gone })
      if ((slot + 1) * bytes > buffer.byteLength) buffer.grow((slot + 1) * bytes)
      resetSlot(this.shared, slot)
      changes.set(key, slot)
    }
    return new EndpointPlaces({ buffer, slots: slots.with(changes), workers }, { now, later, end })
  }

  /** More endpoints than the memory can hold: new memory, with the current data, except running requests. */
  #moved({ come, gone }: EndpointChange): EndpointPlaces {
    const keys = new Set([...this.shared.slots.entries()].map(([key]) => key))
    for (const key of gone) keys.delete(key)
    for (const key of come) keys.add(key)
    const next = EndpointPlaces.of(keys, this.shared.workers)
    for (const [key, slot] of next.shared.slots.entries()) {
      const old = this.shared.slots.get(key)
      if (old !== undefined) moveSlot({ shared: this.shared, slot: old }, { shared: next.shared, slot })
    }
    return next
  }
}
