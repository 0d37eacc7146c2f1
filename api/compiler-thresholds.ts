// How often a function must run before V8 compiles it with its optimizing compilers. The numbers are those of the
// process: all its threads have them.
import { setFlagsFromString } from 'node:v8'

/** The defaults of V8. */
export const DEFAULT_THRESHOLDS: Readonly<Record<string, number>> = {
  '--invocation-count-for-maglev': 400,
  '--invocation-count-for-maglev-osr': 100,
  '--invocation-count-for-turbofan': 3000,
  '--invocation-count-for-osr': 500,
}

/** Functions that have run keep the former number until they reach it. */
export function setCompilerThresholds(factor: number): void {
  for (const [flag, count] of Object.entries(DEFAULT_THRESHOLDS)) setFlagsFromString(`${flag}=${count * factor}`)
}
