// Decisions of rate limit services by limit, and what they reported last about each value of a descriptor.
import type { Exchange } from '../exchange/exchange.ts'
import { type LimitCall, limitCalls, type LimitState } from '../exchange/limit-calls.ts'
import type { SeriesTable } from './buffer.ts'
import { LIMIT_CALLS, LIMIT_STATE, LIMIT_STATES_MAX } from './internal-families.ts'

const RESULT_AT: Readonly<Record<LimitCall['result'], number>> = { allowed: 0, rejected: 1, failed: 2 }
const SECOND_MS = 1000

/** Of one worker. */
export class LimitSeries {
  readonly #table: SeriesTable
  /** The first slot by limit, descriptor and entries. */
  readonly #states = new Map<string, number>()

  constructor(table: SeriesTable) {
    this.#table = table
  }

  add(exchange: Exchange): void {
    const calls = limitCalls(exchange)
    if (calls === undefined) return
    const { values } = this.#table
    for (const [limit, { result, states }] of calls) {
      const slot = this.#table.series(LIMIT_CALLS, [limit]) + RESULT_AT[result]
      values[slot] = (values[slot] ?? 0) + 1
      for (const state of states) this.#report(limit, state)
    }
  }

  /** The first values keep their place; further ones are not kept. */
  #report(limit: string, { descriptor, entries, capacity, unit, remaining, resetSeconds }: LimitState): void {
    const key = `${limit} ${descriptor} ${entries}`
    let slot = this.#states.get(key)
    if (slot === undefined) {
      if (this.#states.size >= LIMIT_STATES_MAX) return
      slot = this.#table.series(LIMIT_STATE, [limit, String(descriptor), entries])
      this.#states.set(key, slot)
    }
    const nowMs = Date.now()
    const resetsAtMs = resetSeconds === 0 ? 0 : nowMs + resetSeconds * SECOND_MS
    this.#table.values.set([nowMs, capacity, unit, remaining, resetsAtMs], slot)
  }
}
