// Tables of cases in which each row costs a process, a proxy or an operator.
import { it } from 'vitest'

type Row = [unknown, ...unknown[]]
type Each = <T extends Row>(
  rows: readonly T[],
) => (name: string, test: (...row: T) => void | Promise<void>, timeoutMs?: number) => void

/**
 * `it.each` that tags the rows after the first `count` as `full`: `make test` leaves them out. The rows that exercise
 * the feature as a whole come first.
 */
export function firstOf(count: number): Each {
  return (rows) => (name, test, timeoutMs) => {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs }
    // The caller has title and assertions.
    // oxlint-disable vitest/expect-expect, vitest/valid-title
    it.each(rows.slice(0, count))(name, timeout, (...row) => test(...row))
    it.each(rows.slice(count))(name, { ...timeout, tags: ['full'] }, (...row) => test(...row))
  }
}
