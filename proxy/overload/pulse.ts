// The pulse of one worker thread: counts its turns for the watchdog of the main thread, measures their delay, and sheds
// load during overload.
import { getHeapStatistics } from 'node:v8'
import type { Logger } from '../log/logger.ts'
import { residentBytes } from '../metrics/resident-memory.ts'
import { OverloadDetector, type OverloadLimits } from './overload.ts'

/** Four samples a second: frequent enough to shed load in time, at negligible cost. */
export const PULSE_MS = 250

/** Read for each request. */
export interface LoadShedder {
  isActive: boolean
  /** Requests that were answered with 503 because of overload. */
  shed: number
}

export interface PulseOptions {
  /** One Int32: beats. */
  readonly beats: SharedArrayBuffer
  readonly limits: OverloadLimits
  readonly logger: Logger
}

export function createBeats(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
}

export function readBeats(beats: SharedArrayBuffer): number {
  return Atomics.load(new Int32Array(beats), 0)
}

export class Pulse {
  readonly shedder: LoadShedder = { isActive: false, shed: 0 }
  readonly #beats: Int32Array
  readonly #detector: OverloadDetector
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  readonly #isMemoryWatched: boolean
  /** undefined: the process has no limit. */
  readonly #memoryLimit: number | undefined
  #lastMs = performance.now()

  constructor({ beats, limits, logger }: PulseOptions) {
    this.#beats = new Int32Array(beats)
    this.#detector = new OverloadDetector(limits)
    this.#logger = logger
    this.#isMemoryWatched = limits.memoryShare > 0
    const limit = process.constrainedMemory()
    // Without a limit node returns 0, or a number larger than any machine's memory.
    this.#memoryLimit = limit > 0 && limit < Number.MAX_SAFE_INTEGER ? limit : undefined
    this.#timer = setInterval(() => this.#beat(), PULSE_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #beat(): void {
    const nowMs = performance.now()
    const lagMs = Math.max(0, nowMs - this.#lastMs - PULSE_MS)
    this.#lastMs = nowMs
    Atomics.add(this.#beats, 0, 1)
    const cause = this.#detector.sample({ lagMs, memoryShare: this.#isMemoryWatched ? this.#memoryShare() : 0 })
    const isActive = cause !== undefined
    if (isActive === this.shedder.isActive) return
    this.shedder.isActive = isActive
    if (isActive) this.#logger.warn('overloaded: new requests are rejected', { cause, lag_ms: Math.round(lagMs) })
    else this.#logger.info('no longer overloaded', { shed_requests: this.shedder.shed })
  }

  #memoryShare(): number {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    const resident = this.#memoryLimit === undefined ? 0 : residentBytes() / this.#memoryLimit
    return Math.max(used / limit, resident)
  }
}
