// Makes V8 optimize later while the command starts. Imported for its effect, before any code of the command.
import { setCompilerThresholds } from '#api/compiler-thresholds.ts'

/**
 * The start of a proxy calls some functions often enough for the defaults of V8, and never again: both compilers, 5 MiB
 * of the binary, would run for code without use. A worker with load takes the defaults (proxy/runtime/load-start.ts).
 */
const FACTOR_OF_START = 10

setCompilerThresholds(FACTOR_OF_START)
