// How often a function must run before V8 compiles it with its optimizing compilers. Imported for its effect, before
// any code of the command: functions that have run keep the former number.
import { setFlagsFromString } from 'node:v8'

/**
 * Ten times the defaults of V8. The start of a proxy calls some functions often enough for the defaults, and never
 * again: both compilers, 5 MiB of the binary, would run for code without use. Requests reach these numbers in a second
 * of load, and a start with thousands of routes in less (docs/performance.md).
 */
export const THRESHOLDS: Readonly<Record<string, number>> = {
  '--invocation-count-for-maglev': 4000,
  '--invocation-count-for-maglev-osr': 1000,
  '--invocation-count-for-turbofan': 30_000,
  '--invocation-count-for-osr': 5000,
}

for (const [flag, count] of Object.entries(THRESHOLDS)) setFlagsFromString(`${flag}=${count}`)
