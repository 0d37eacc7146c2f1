// How many more connections one worker may take before the process is short of file descriptors. A quarter of them is
// kept for backends, files and names: clients that only wait must not keep those from being served that are there.
import type { Logger } from '../log/logger.ts'
import { descriptorLimit, FEW_DESCRIPTORS, openDescriptors } from '../metrics/file-descriptors.ts'

/** One part of so many is not for clients: each one at work needs a connection to a backend as well. */
const KEPT_PART = 4
/** Idle connections are closed until so much of what clients may have is free: room for those who come next. */
const FREED_PART = 16
/** Looks without a refusal after which it is over. */
const CALM_LOOKS = 40
/** A look may use this part of the time. */
const REST_PART = 100

export interface DescriptorRoomOptions {
  /** Share what is left. */
  readonly workers: number
  readonly limit?: number | undefined
  readonly count?: () => number | undefined
  readonly clock?: () => number
}

export class DescriptorRoom {
  /** Connections that were closed unserved. */
  refused = 0
  /** From the first look with too few to the last, and for a while after it. */
  isShort = false
  readonly limit: number
  readonly #workers: number
  readonly #count: () => number | undefined
  readonly #clock: () => number
  readonly #forClients: number
  /** What this worker may take until the next look. */
  #left = 0
  #wanted = 0
  #calm = 0
  #restUntilMs = 0

  constructor(options: DescriptorRoomOptions) {
    const { workers, limit = descriptorLimit(), count = openDescriptors, clock = performanceNow } = options
    this.#workers = workers
    this.#count = count
    this.#clock = clock
    this.limit = limit ?? Number.POSITIVE_INFINITY
    this.#forClients = this.limit - Math.ceil(this.limit / KEPT_PART)
    this.#left = this.#share()
  }

  /** Whether a connection that was just accepted may stay. */
  take(): boolean {
    // All of them may have come to one worker: its share is not all there is. After a refusal the next look decides.
    if (this.#left < 1 && this.#wanted === 0) this.#left = this.#share()
    if (this.#left < 1) {
      this.#wanted++
      this.refused++
      return false
    }
    this.#left--
    return true
  }

  /** To be called a few times a second. Returns how many idle connections this worker has to close. */
  look(): number {
    const nowMs = this.#clock()
    if (this.limit === Number.POSITIVE_INFINITY || nowMs < this.#restUntilMs) return 0
    const room = this.#room()
    // Where they must be counted one by one, many of them take a while.
    this.#restUntilMs = nowMs + REST_PART * (this.#clock() - nowMs)
    this.#left = shareOf(room, this.#workers)
    const isShort = this.#left < 1 || this.#wanted > 0
    this.#wanted = 0
    this.#calm = isShort ? 0 : this.#calm + 1
    if (isShort) this.isShort = true
    else if (this.#calm >= CALM_LOOKS) this.isShort = false
    return isShort ? Math.max(0, Math.ceil((this.#forClients / FREED_PART - room) / this.#workers)) : 0
  }

  #share(): number {
    return this.limit === Number.POSITIVE_INFINITY ? this.limit : shareOf(this.#room(), this.#workers)
  }

  /** Where nothing can be counted, none is left to count with. */
  #room(): number {
    return this.#forClients - (this.#count() ?? this.limit)
  }
}

function performanceNow(): number {
  return performance.now()
}

function shareOf(room: number, workers: number): number {
  return Math.max(0, Math.floor(room / workers))
}

/** At the start of a process. */
export function warnOfFewDescriptors(log: Logger): void {
  const limit = descriptorLimit()
  if (limit === undefined || limit >= FEW_DESCRIPTORS) return
  log.warn(
    'file descriptor limit is low: a quarter is reserved, and further client connections are closed unserved; raise ulimit -n',
    { limit },
  )
}
