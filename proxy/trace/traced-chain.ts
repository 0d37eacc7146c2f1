// Runs the filters of a chain as policy/run-chain.ts does, and tells the trace about each.
import type { Exchange } from '../exchange.ts'
import type { NamedFilter } from '../plan.ts'
import type { Verdict } from '../policy/filter.ts'
import type { ExchangeTrace } from './exchange-trace.ts'

export class TracedChain {
  readonly #trace: ExchangeTrace
  readonly #filters: readonly NamedFilter[]
  readonly #exchange: Exchange
  readonly #done: (exchange: Exchange) => void
  readonly #isResponse: boolean

  constructor(options: {
    trace: ExchangeTrace
    filters: readonly NamedFilter[]
    exchange: Exchange
    done: (exchange: Exchange) => void
  }) {
    this.#trace = options.trace
    this.#filters = options.filters
    this.#exchange = options.exchange
    this.#done = options.done
    // Request filters run as long as there is no response.
    this.#isResponse = options.exchange.response !== undefined
  }

  run(index: number): void {
    for (let i = index; i < this.#filters.length; i++) {
      const entry = this.#filters[i]
      if (entry === undefined) continue
      const startMs = performance.now()
      const verdict = this.#call(entry)
      if (verdict instanceof Promise) {
        this.#continueAfter(entry, { verdict, startMs, next: i + 1 })
        return
      }
      if (this.#took(entry, verdict, startMs)) break
    }
    this.#done(this.#exchange)
  }

  /** True: the policy answered, and the chain is over. */
  #took({ name }: NamedFilter, verdict: Verdict, startMs: number): boolean {
    if (verdict !== undefined) this.#exchange.response = verdict
    this.#trace.policyRan(this.#exchange, name, { startMs, isResponse: this.#isResponse })
    return verdict !== undefined
  }

  #continueAfter(
    entry: NamedFilter,
    { verdict, startMs, next }: { verdict: Promise<Verdict>; startMs: number; next: number },
  ): void {
    void verdict
      .catch((error: unknown) => this.#exchange.fail('internal', `${entry.name}: ${String(error)}`))
      // Outside of the promise's own chain of errors: only the filter's failure is the filter's.
      .then((late) => queueMicrotask(() => this.#goOn(entry, { verdict: late, startMs, next })))
  }

  #goOn(entry: NamedFilter, { verdict, startMs, next }: { verdict: Verdict; startMs: number; next: number }): void {
    if (this.#took(entry, verdict, startMs)) this.#done(this.#exchange)
    else this.run(next)
  }

  #call(entry: NamedFilter): Verdict | Promise<Verdict> {
    try {
      return entry.filter(this.#exchange)
    } catch (error) {
      return this.#exchange.fail('internal', `${entry.name}: ${String(error)}`)
    }
  }
}
