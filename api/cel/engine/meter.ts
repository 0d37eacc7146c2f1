// Charges the evaluation under way for the work of values that have no frame: header fields that are read, JSON that
// becomes values. Evaluations are synchronous, so there is one at a time.
import type { Frame } from './frame.ts'

/** Short values cost nothing, as with `Frame.chargeFor`. */
const FREE_STEPS_MAX = 16

let current: Frame | undefined

/** Charges `frame` from now on. Returns the previous one, which the caller sets again. */
export function metered(frame: Frame | undefined): Frame | undefined {
  const before = current
  current = frame
  return before
}

/** Does nothing outside of an evaluation. @throws {BudgetExceeded} */
export function chargeCurrent(steps: number): void {
  if (steps > FREE_STEPS_MAX) current?.charge(steps)
}
