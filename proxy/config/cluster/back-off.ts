// Delays between attempts: doubling, bounded, and with jitter so that replicas do not retry at the same time.
import { setTimeout as delay } from 'node:timers/promises'

export interface BackOffLimits {
  readonly firstMs: number
  readonly maxMs: number
}

export class BackOff {
  readonly #limits: BackOffLimits
  #attempts = 0

  constructor(limits: BackOffLimits) {
    this.#limits = limits
  }

  reset(): void {
    this.#attempts = 0
  }

  /** False if the signal ended the wait. */
  async wait(signal: AbortSignal): Promise<boolean> {
    const { firstMs, maxMs } = this.#limits
    const ms = Math.min(firstMs * 2 ** Math.min(this.#attempts++, 16), maxMs)
    try {
      await delay(ms / 2 + Math.random() * (ms / 2), undefined, { signal })
      return true
    } catch {
      // Only the signal rejects.
      return false
    }
  }
}
