// Releases memory that a thread used and no longer needs. V8 itself keeps it while the thread has little to do. In the
// main thread: what a start or a large change used, such as documents as they were read, lists before translation, code
// that ran once. In a worker: what a start or requests used, only while there are no requests: a full collection stops
// traffic.
import { getHeapStatistics } from 'node:v8'
import { fullCollection } from '#api/full-collection.ts'

export interface ReleasableHeap {
  /** What it takes from the system. */
  bytes(): number
  /** Nothing else runs in the thread meanwhile. */
  release(): void
}

export interface ThreadLook {
  readonly isQuiet: boolean
  /** Since the start of the thread. */
  readonly hadLoad: boolean
}

/** Longer than from one change of a program to its next. */
const QUIET_MS = 1000
/**
 * After load: a collection also removes optimized code, because classes of requests have no instances meanwhile. The
 * next requests then cost three times as much for two seconds, which a pause between bursts must not cause.
 */
const QUIET_AFTER_LOAD_MS = 10_000
/** By less than a half, and less than this, it is left to V8: what the next change needs is taken again at once. */
const GROWTH_MIN = 1.5
const BYTES_MIN = 8 * 1024 * 1024

export class HeapRelease {
  readonly #heap: ReleasableHeap
  #released = 0
  #isQuiet = false
  #timer: NodeJS.Timeout | undefined = undefined

  constructor(heap: ReleasableHeap) {
    this.#heap = heap
  }

  /** Work begins: whoever waits for it must not wait for a collection. */
  defer(): void {
    clearTimeout(this.#timer)
  }

  /** For threads that look at themselves at intervals: quiet since the look before, or at work. */
  look({ isQuiet, hadLoad }: ThreadLook): void {
    if (!isQuiet) this.defer()
    else if (!this.#isQuiet) this.#schedule(hadLoad ? QUIET_AFTER_LOAD_MS : QUIET_MS)
    this.#isQuiet = isQuiet
  }

  /** Work is done; when nothing follows on it, the heap is looked at. */
  schedule(): void {
    this.#schedule(QUIET_MS)
  }

  #schedule(quietMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#releaseGrown(), quietMs).unref()
  }

  #releaseGrown(): void {
    if (this.#heap.bytes() < this.#released * GROWTH_MIN + BYTES_MIN) return
    this.#heap.release()
    this.#released = this.#heap.bytes()
  }
}

/** Share of time: timers and scrapes take less. */
const QUIET_LOAD = 0.02

export interface WorkerLoad {
  /** Share of the time since the last look in which the event loop was busy. */
  readonly utilization: number
  readonly activeRequests: number
  /** That have ended so far. */
  readonly requests: number
}

/** Whether a worker had no work since the last look: a few short requests take almost no time, but must not wait. */
export class QuietTime {
  #requests = 0

  look({ utilization, activeRequests, requests }: WorkerLoad): boolean {
    const hadRequests = requests !== this.#requests || activeRequests > 0
    this.#requests = requests
    return !hadRequests && utilization < QUIET_LOAD
  }
}

/** Of the calling thread. */
export function ownHeap(): ReleasableHeap {
  return {
    bytes: () => getHeapStatistics().total_physical_size,
    // Made when it is needed, which in a small process may be never.
    release: () => fullCollection('last-resort')(),
  }
}
