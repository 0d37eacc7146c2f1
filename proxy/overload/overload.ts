// Decides whether a thread is overloaded: its event loop is delayed, or memory is low. Then the proxy answers new
// requests with 503 at once. Ends only after the thread has been well for a while.

export interface OverloadLimits {
  /** Delay of the event loop in milliseconds; 0: not checked. */
  readonly lagMs: number
  /** Share of the heap limit of the thread, or of the memory limit of the process; 0: not checked. */
  readonly memoryShare: number
}

export interface OverloadSample {
  readonly lagMs: number
  /** Used share: the larger value of heap and process. */
  readonly memoryShare: number
}

export type OverloadCause = 'lag' | 'memory'

/** A single late turn may be one large message, or garbage collection. */
const LATE_TURNS = 3
/** Recovered: below these parts of the limits, for the same number of samples. */
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
