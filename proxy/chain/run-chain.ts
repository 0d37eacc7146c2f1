// Runs compiled filters. Synchronous while all filters are: the runner waits only for promises that a filter returns.
import { failByDefect } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { NamedFilter, Verdict } from './filter.ts'

/**
 * Runs `filters` from `index` and calls `done` exactly once. The first filter with a response ends the chain: its
 * response becomes the response of the exchange. A filter that throws or rejects is a bug: the exchange fails as
 * `internal`. The trace of a watched request gets an event for each filter.
 */
export function runChain(
  filters: readonly NamedFilter[],
  exchange: Exchange,
  index: number,
  done: (exchange: Exchange) => void,
): void {
  for (let i = index; i < filters.length; i++) {
    const filter = filters[i]
    if (filter === undefined) continue
    const begun = exchange.trace === undefined ? undefined : beginningOf(exchange)
    const verdict = callFilter(filter, exchange)
    if (verdict instanceof Promise) {
      continueAfter({ filters, exchange, index: i, done, begun }, verdict)
      return
    }
    if (verdict !== undefined) exchange.response = verdict
    if (begun !== undefined) exchange.trace?.policyRan(exchange, filter.name, begun)
    if (verdict !== undefined) break
  }
  done(exchange)
}

/** The content of a filter's trace event, besides its name. */
interface Beginning {
  readonly startMs: number
  readonly isResponse: boolean
}

/** Request filters run while there is no response. */
function beginningOf({ response }: Exchange): Beginning {
  return { startMs: performance.now(), isResponse: response !== undefined }
}

interface Run {
  readonly filters: readonly NamedFilter[]
  readonly exchange: Exchange
  readonly index: number
  readonly done: (exchange: Exchange) => void
  /** undefined: the request is not traced. */
  readonly begun: Beginning | undefined
}

function continueAfter(run: Run, verdict: Promise<Verdict>): void {
  const { filters, exchange, index } = run
  // `done` is called outside the promise chain, so that only failures of the filter count as its failures.
  verdict.then(
    (late) => goOn(run, late),
    (error: unknown) => goOn(run, failByDefect(exchange, filters[index]?.name ?? '', error)),
  )
}

function goOn({ filters, exchange, index, done, begun }: Run, verdict: Verdict): void {
  if (verdict !== undefined) exchange.response = verdict
  if (begun !== undefined) exchange.trace?.policyRan(exchange, filters[index]?.name ?? '', begun)
  if (verdict === undefined) runChain(filters, exchange, index + 1, done)
  else done(exchange)
}

function callFilter(entry: NamedFilter, exchange: Exchange): Verdict | Promise<Verdict> {
  try {
    return entry.filter(exchange)
  } catch (error) {
    return failByDefect(exchange, entry.name, error)
  }
}
