// How much random tests do: little in `make test`, all of it in `make test-full`, which CI runs.

/** Set by `make test-full`. */
const isFull = process.env['TESTS'] === 'full'

const SHARE = 10
const FEWEST = 10

/** Of as many random runs, or milliseconds of them, as a test has: a tenth by default, but no fewer than 10. */
export function runs(full: number, few = Math.max(FEWEST, Math.ceil(full / SHARE))): number {
  return isFull ? full : Math.min(full, few)
}
