import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { THREADS, type Hammering } from './endpoint-hammer.testing.ts'
import { EndpointPlaces } from './endpoint-places.ts'
import { type EndpointBuffer, EndpointStore, localState, readFigures, sharedNowMs } from './endpoint-store.ts'

const MINUTE_MS = 60_000
const FRESH = {
  health: 1,
  latencySeconds: 0,
  pendingRequests: 0,
  totalRequests: 0,
  consecutiveFailures: 0,
  timesEjected: 0,
  evictedForMs: undefined,
  evictions: 0,
  lastEviction: undefined,
}

describe('EndpointState', () => {
  it('multiplies evictions by the times ejected, up to the limit, and resets them after a success', () => {
    const state = localState()
    const evictedForMs = (): number => Math.round((state.figures(sharedNowMs()).evictedForMs ?? 0) / 1000)
    expect(state.evict(10_000, 25_000, undefined)).toBe(true)
    expect([state.isEvicted, state.timesEjected, evictedForMs()]).toEqual([true, 1, 10])
    expect(state.evict(10_000, 25_000, undefined)).toBe(false)
    expect(evictedForMs()).toBe(10)
    state.begin()
    state.succeeded(1)
    expect(state.timesEjected).toBe(0)
  })

  it('keeps the number of all evictions, and time and cause of the last, after a success', () => {
    const state = localState()
    expect(state.figures(sharedNowMs())).toMatchObject({ evictions: 0, lastEviction: undefined })
    const cause = { rule: 'consecutiveFailures', failures: 3, outcome: 'status', status: 503 } as const
    for (let times = 0; times < 2; times++) {
      state.evict(0, MINUTE_MS, undefined)
      state.noteEviction(cause)
      state.tryRestore()
      state.begin()
      state.succeeded(1)
    }
    const { evictions, timesEjected, lastEviction } = state.figures(sharedNowMs())
    expect([evictions, timesEjected]).toEqual([2, 0])
    expect(lastEviction).toMatchObject(cause)
    expect(Math.abs((lastEviction?.atMs ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('restores after the time, with the configured health', () => {
    const state = localState()
    state.begin()
    state.failed()
    expect(state.evict(0, MINUTE_MS, 0.5)).toBe(true)
    expect(state.isEvicted).toBe(false)
    expect(state.health).toBeCloseTo(0.7)
    expect(state.tryRestore()).toBe(true)
    expect(state.health).toBeCloseTo(0.5)
    // Restored with 0: the first sample replaces it (section 5.1).
    state.evict(0, MINUTE_MS, 0)
    state.tryRestore()
    expect(state.health).toBe(0)
    state.begin()
    state.succeeded(1)
    expect(state.health).toBe(1)
  })

  it('restores with the health before the eviction by default', () => {
    const state = localState()
    state.failed()
    state.evict(0, MINUTE_MS, undefined)
    // Requests that ran, or that were sent because everything was evicted.
    state.failed()
    state.failed()
    expect(state.health).toBeCloseTo(0.343)
    expect(state.figures(sharedNowMs()).health).toBeCloseTo(0.7)
    expect(state.tryRestore()).toBe(true)
    expect(state.health).toBeCloseTo(0.7)
    state.failed()
    expect(state.tryRestore()).toBe(true)
    expect(state.health).toBeCloseTo(0.49)
  })

  it('shows the restored state once the time is over', () => {
    const state = localState()
    state.begin()
    state.failed()
    state.evict(0, MINUTE_MS, 0.9)
    const figures = state.figures(sharedNowMs())
    expect(figures).toMatchObject({ timesEjected: 1, evictedForMs: undefined })
    expect(figures.health).toBeCloseTo(0.9)
    expect([state.tryRestore(), state.health]).toEqual([true, figures.health])
  })

  it('counts a longer second eviction', () => {
    const state = localState()
    state.evict(0, MINUTE_MS, undefined)
    state.tryRestore()
    state.evict(10_000, MINUTE_MS, undefined)
    expect(Math.round((state.figures(sharedNowMs()).evictedForMs ?? 0) / 1000)).toBe(20)
  })
})

describe('shared memory', () => {
  it('is one state for all workers, and is kept over configurations', () => {
    const first = EndpointPlaces.of(['a', 'b'], 2)
    const ofOne = new EndpointStore(first.shared, 0).state('a')
    ofOne.begin()
    ofOne.failed()
    ofOne.evict(MINUTE_MS, MINUTE_MS, undefined)
    expect(new EndpointStore(first.shared, 1).state('a').isEvicted).toBe(true)
    expect(new EndpointStore(first.shared, 1).state('b').isEvicted).toBe(false)
    const { shared } = first.after({ come: ['c'], gone: ['b'] })
    expect(readFigures(shared, 'a')).toMatchObject({ consecutiveFailures: 1, timesEjected: 1, totalRequests: 1 })
    expect(readFigures(shared, 'c')).toEqual(FRESH)
    expect(readFigures(shared, 'b')).toBeUndefined()
  })

  it('removes the pending requests of a dead worker', () => {
    const { shared } = EndpointPlaces.of(['a'], 2)
    new EndpointStore(shared, 0).state('a').begin()
    new EndpointStore(shared, 1).state('a').begin()
    new EndpointStore(shared, 1).forgetPending()
    expect(readFigures(shared, 'a')?.pendingRequests).toBe(1)
  })

  it('keeps endpoints outside of the configuration separate, one state for each key', () => {
    const store = EndpointStore.local()
    store.state('a').failed()
    expect(store.state('a').consecutiveFailures).toBe(1)
    expect(store.state('b').consecutiveFailures).toBe(0)
  })
})

type HammerInput = Pick<Hammering, 'keys' | 'requests' | 'isHealthy'> & { readonly shared: EndpointBuffer }

describe('threads', () => {
  /** Sum of evictions that the threads count. */
  async function hammer(input: HammerInput): Promise<number> {
    const entry = new URL('endpoint-hammer.testing.ts', import.meta.url)
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const workers = Array.from({ length: THREADS }, (_, workerId) => {
      const shared = { ...input.shared, slots: new Map(input.shared.slots.entries()) }
      const workerData: Hammering = { ...input, shared, gate, workerId }
      return new Worker(entry, { workerData })
    })
    const messages = await Promise.all(workers.map((worker) => once(worker, 'message')))
    return messages.reduce((sum, [evictions]) => sum + Number(evictions), 0)
  }

  it('lose no request and no failure', async () => {
    const { shared } = EndpointPlaces.of(['a'], THREADS)
    await hammer({ shared, keys: ['a'], requests: 200_000, isHealthy: false })
    const all = THREADS * 200_000
    expect(readFigures(shared, 'a')).toMatchObject({ totalRequests: all, pendingRequests: 0, consecutiveFailures: all })
    await hammer({ shared, keys: ['a'], requests: 1000, isHealthy: true })
    expect(readFigures(shared, 'a')).toMatchObject({ consecutiveFailures: 0, timesEjected: 0, pendingRequests: 0 })
    expect(readFigures(shared, 'a')?.health).toBeCloseTo(1)
    expect(readFigures(shared, 'a')?.latencySeconds).toBeCloseTo(0.01)
  })

  it('evict each endpoint exactly once', async () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => String(i))
    const { shared } = EndpointPlaces.of(keys, THREADS)
    expect(await hammer({ shared, keys, requests: 1, isHealthy: false })).toBe(keys.length)
    expect(new Set(keys.map((key) => readFigures(shared, key)?.timesEjected))).toEqual(new Set([1]))
  })
})
