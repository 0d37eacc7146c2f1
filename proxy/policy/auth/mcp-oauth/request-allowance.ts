// How many requests for the identity provider one client may send in a minute. Each worker counts for itself.
import { clientOf } from '../../../upstream/client-shares.ts'

const MINUTE_MS = 60_000
/** Further clients of the same minute share one allowance. */
const CLIENTS_MAX = 10_000
const OTHERS = 'others'

export class RequestAllowance {
  readonly #perMinute: number
  readonly #counts = new Map<string, number>()
  #minute = 0

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Seconds until the client may try again; 0: it may send this request. `nowMs`: of any clock that only grows. */
  take(address: string, nowMs: number): number {
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts.clear()
    }
    const client = clientOf(address)
    const key = this.#counts.has(client) || this.#counts.size < CLIENTS_MAX ? client : OTHERS
    const count = (this.#counts.get(key) ?? 0) + 1
    if (count > this.#perMinute) return Math.ceil(((minute + 1) * MINUTE_MS - nowMs) / 1000)
    this.#counts.set(key, count)
    return 0
  }
}
