// One of several threads that take from one bucket at once; see rate-limit-store.test.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { sharedRateLimitStore, type RateLimitBuffer } from './rate-limit-store.ts'
import type { BucketLimit } from '../../chain/rate-limits.ts'

interface Job {
  /** Passed between threads. */
  readonly shared: Omit<RateLimitBuffer, 'slots'> & { readonly slots: ReadonlyMap<string, number> }
  readonly limit: BucketLimit
  /** Threads report their start and begin together. */
  readonly gate: Int32Array
  readonly nowMs: readonly number[]
  /** Attempts at each moment. */
  readonly tries: number
}

const THREADS = 4
const GATE_WAIT_MS = 10_000

// The test is the only one that starts this file, with exactly this data.
const { shared, limit, gate, nowMs, tries } = workerData as Job
const bucket = sharedRateLimitStore({ ...shared, slots: LayeredMap.of(shared.slots) }).bucket('k', limit)
for (let here = Atomics.add(gate, 0, 1) + 1; here < THREADS; here = Atomics.load(gate, 0)) {
  if (Atomics.wait(gate, 0, here, GATE_WAIT_MS) === 'timed-out') throw new Error('the other threads did not start')
}
Atomics.notify(gate, 0)
let allowed = 0
for (const now of nowMs) {
  for (let i = 0; i < tries; i++) if (bucket.take(1, now).isAllowed) allowed++
}
parentPort?.postMessage(allowed)
