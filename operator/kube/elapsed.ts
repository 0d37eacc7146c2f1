// Monotonic time: for all waits and durations. The wall clock may be set, by hours at worst, and is only for texts that
// users read.
import { Clock, Effect } from 'effect'

const NANOS_PER_MS = 1e6

/** Since some moment in the past. */
export const elapsedMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / NANOS_PER_MS,
)
