// The gw command. It loads nothing else before compiled code is kept: modules that are loaded earlier are compiled at
// each start.
import './compiler-thresholds.ts'
import { fileURLToPath } from 'node:url'
import { keepCompiledCode } from '#api/compiled-code.ts'

/** `make build` writes the bundle to an empty folder, so that code of former builds goes with it. */
const COMPILED = import.meta.url.endsWith('.ts') ? '../.cache/compiled' : './.compiled'

keepCompiledCode(fileURLToPath(new URL(COMPILED, import.meta.url)))
const { run } = await import('./program.ts')
process.exitCode = await run(process.argv)
