// Number of runs of random tests: few in `make test`, all in `make test-full`, which CI runs.

/** Set by `make test-full`. */
export const isFull = process.env['TESTS'] === 'full'

const SHARE = 10
const FEWEST = 10

/** Scales the random runs of a test, or their milliseconds: a tenth by default, but at least 10. */
export function runs(full: number, few = Math.max(FEWEST, Math.ceil(full / SHARE))): number {
  return isFull ? full : Math.min(full, few)
}
