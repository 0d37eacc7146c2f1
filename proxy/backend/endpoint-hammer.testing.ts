// One of several threads that work on the same endpoints at once; see endpoint-store.test.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { EndpointStore, type EndpointBuffer, type EndpointState } from './endpoint-store.ts'

export interface Hammering {
  /** Passed between threads. */
  readonly shared: Omit<EndpointBuffer, 'slots'> & { readonly slots: ReadonlyMap<string, number> }
  readonly workerId: number
  /** Threads report their start and begin together. */
  readonly gate: Int32Array
  readonly keys: readonly string[]
  /** Requests to each endpoint. */
  readonly requests: number
  readonly isHealthy: boolean
}

export const THREADS = 3
const GATE_WAIT_MS = 10_000
const MINUTE_MS = 60_000

if (parentPort !== null) {
  // Set by the test.
  const { shared, workerId, gate, keys, requests, isHealthy } = workerData as Hammering
  const store = new EndpointStore({ ...shared, slots: LayeredMap.of(shared.slots) }, workerId)
  const states = keys.map((key) => store.state(key))
  for (let here = Atomics.add(gate, 0, 1) + 1; here < THREADS; here = Atomics.load(gate, 0)) {
    if (Atomics.wait(gate, 0, here, GATE_WAIT_MS) === 'timed-out') throw new Error('the other threads did not start')
  }
  Atomics.notify(gate, 0)
  let evictions = 0
  for (const state of states) {
    for (let i = 0; i < requests; i++) evictions += request(state, isHealthy)
  }
  parentPort.postMessage(evictions)
}

/** 1: it evicted the endpoint. */
function request(state: EndpointState, isHealthy: boolean): number {
  state.begin()
  if (isHealthy) {
    state.succeeded(10)
    return 0
  }
  state.failed()
  return state.evict(MINUTE_MS, MINUTE_MS, undefined) ? 1 : 0
}
