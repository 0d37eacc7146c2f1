// Time that only runs forward: for everything that is waited for or counted from. The clock of the machine is set now
// and then, by hours at worst, and says only what people read.
import { Clock, Effect } from 'effect'

const NANOS_PER_MS = 1e6

/** Since some moment in the past. */
export const elapsedMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / NANOS_PER_MS,
)
