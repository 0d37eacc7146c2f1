// The figures of one endpoint in the last hour, a point for each minute. A new minute takes the place of the oldest.

export const MINUTE_MS = 60_000
export const MINUTES = 60

export interface Sample {
  /** 0–1. */
  readonly health: number
  readonly latencySeconds: number
  /** Since the last sample. */
  readonly requests: number
  /** At this moment, or since the last sample. */
  readonly isEvicted: boolean
}

/** Lists with the oldest minute first; null: no sample in that minute. */
export interface MinutePoints {
  /** The lowest of the minute. */
  readonly health: (number | null)[]
  /** The moving average at the end of the minute, in seconds; null: no request in that minute. */
  readonly latency: (number | null)[]
  readonly requests: number[]
  /** Share of the samples of the minute. */
  readonly evicted: number[]
}

export class MinuteRing {
  readonly #minutes = new Float64Array(MINUTES).fill(-1)
  readonly #health = new Float32Array(MINUTES)
  readonly #latency = new Float32Array(MINUTES)
  readonly #requests = new Uint32Array(MINUTES)
  readonly #samples = new Uint8Array(MINUTES)
  readonly #evicted = new Uint8Array(MINUTES)

  add(minute: number, { health, latencySeconds, requests, isEvicted }: Sample): void {
    const at = minute % MINUTES
    if (this.#minutes[at] !== minute) this.#begin(at, minute)
    this.#health[at] = Math.min(this.#health[at] ?? 1, health)
    this.#latency[at] = latencySeconds
    this.#requests[at] = (this.#requests[at] ?? 0) + requests
    this.#samples[at] = (this.#samples[at] ?? 0) + 1
    if (isEvicted) this.#evicted[at] = (this.#evicted[at] ?? 0) + 1
  }

  #begin(at: number, minute: number): void {
    this.#minutes[at] = minute
    this.#health[at] = 1
    for (const list of [this.#requests, this.#samples, this.#evicted]) list[at] = 0
  }

  /** It was healthy in all minutes. */
  get isSteady(): boolean {
    return (
      this.#evicted.every((count) => count === 0) &&
      this.#minutes.every((minute, at) => minute < 0 || this.#health[at] === 1)
    )
  }

  /** `count` minutes up to `last`. */
  points(last: number, count: number): MinutePoints {
    const minutes = Array.from({ length: count }, (_, i) => last - count + 1 + i)
    const values = <T>(of: (at: number) => T, otherwise: T): T[] =>
      minutes.map((minute) => (this.#minutes[minute % MINUTES] === minute ? of(minute % MINUTES) : otherwise))
    return {
      health: values((at) => rounded(this.#health[at] ?? 1, 100), null),
      latency: values((at) => (this.#requests[at] === 0 ? null : rounded(this.#latency[at] ?? 0, 1e6)), null),
      requests: values((at) => this.#requests[at] ?? 0, 0),
      evicted: values((at) => rounded((this.#evicted[at] ?? 0) / Math.max(1, this.#samples[at] ?? 1), 100), 0),
    }
  }
}

function rounded(value: number, parts: number): number {
  return Math.round(value * parts) / parts
}
