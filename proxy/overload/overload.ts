// Whether a thread has more to do than it can: its event loop turns late, or memory runs out. Then new requests are
// answered with 503 at once, before they cost anything. Goes off only when things are well again for a while.

export interface OverloadLimits {
  /** Delay of the event loop; 0: not looked at. */
  readonly lagMs: number
  /** Share of the heap limit of the thread, or of the memory limit of the process; 0: not looked at. */
  readonly memoryShare: number
}

export interface OverloadSample {
  readonly lagMs: number
  /** Used share: the larger one of heap and process. */
  readonly memoryShare: number
}

export type OverloadCause = 'lag' | 'memory'

/** One late turn may be a single large message, or the collector. */
const LATE_TURNS = 3
/** Well again: below these parts of the limits, for as many samples. */
const LAG_CALM = 0.5
const MEMORY_CALM = 0.9
const CALM_SAMPLES = 4

export class OverloadDetector {
  readonly #limits: OverloadLimits
  #late = 0
  #calm = 0
  #cause: OverloadCause | undefined = undefined

  constructor(limits: OverloadLimits) {
    this.#limits = limits
  }

  /** undefined: not overloaded. */
  get cause(): OverloadCause | undefined {
    return this.#cause
  }

  sample(sample: OverloadSample): OverloadCause | undefined {
    const lag = shareOf(sample.lagMs, this.#limits.lagMs)
    const memory = shareOf(sample.memoryShare, this.#limits.memoryShare)
    this.#late = lag >= 1 ? this.#late + 1 : 0
    if (memory >= 1) this.#cause = 'memory'
    else if (this.#late >= LATE_TURNS) this.#cause = 'lag'
    this.#calm = lag < LAG_CALM && memory < MEMORY_CALM ? this.#calm + 1 : 0
    if (this.#calm >= CALM_SAMPLES) this.#cause = undefined
    return this.#cause
  }
}

function shareOf(value: number, limit: number): number {
  return limit === 0 ? 0 : value / limit
}
