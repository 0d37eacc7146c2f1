// Runs compiled filters. Synchronous as long as every filter is: a promise is waited for only where one comes back.
import type { Exchange } from '../exchange.ts'
import type { NamedFilter } from '../plan.ts'
import type { Verdict } from './filter.ts'

/**
 * Runs `filters` from `index` on and calls `done` exactly once. The first filter that answers ends the chain: its
 * response becomes that of the exchange. A filter that throws or rejects is a bug: the exchange fails as `internal`.
 */
export function runChain(
  filters: readonly NamedFilter[],
  exchange: Exchange,
  index: number,
  done: (exchange: Exchange) => void,
): void {
  if (exchange.trace !== undefined) {
    exchange.trace.runChain(filters, exchange, index, done)
    return
  }
  for (let i = index; i < filters.length; i++) {
    const filter = filters[i]
    if (filter === undefined) continue
    const verdict = callFilter(filter, exchange)
    if (verdict === undefined) continue
    if (verdict instanceof Promise) {
      continueAfter({ filters, exchange, index: i, done }, verdict)
      return
    }
    exchange.response = verdict
    break
  }
  done(exchange)
}

interface Run {
  readonly filters: readonly NamedFilter[]
  readonly exchange: Exchange
  readonly index: number
  readonly done: (exchange: Exchange) => void
}

function continueAfter({ filters, exchange, index, done }: Run, verdict: Promise<Verdict>): void {
  // `done` is called outside of the promise's own chain of errors: only the filter's failure is the filter's.
  verdict.then(
    (late) => {
      if (late === undefined) runChain(filters, exchange, index + 1, done)
      else {
        exchange.response = late
        done(exchange)
      }
    },
    (error: unknown) => {
      exchange.fail('internal', `${filters[index]?.name}: ${String(error)}`)
      done(exchange)
    },
  )
}

function callFilter(entry: NamedFilter, exchange: Exchange): Verdict | Promise<Verdict> {
  try {
    return entry.filter(exchange)
  } catch (error) {
    return exchange.fail('internal', `${entry.name}: ${String(error)}`)
  }
}
