// node hack/image/compile.ts FOLDER: writes the compiled code of the bundle in FOLDER to FOLDER/.compiled, for the
// processor and the Node that run this script. Runs none of the commands.
import '#cli/compiler-thresholds.ts'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keepCompiledCode } from '#api/compiled-code.ts'

/** The entry of the command. It is loaded before compiled code is kept. */
const COMMAND = 'gw.js'
/** The entry of a worker, which is compiled although it cannot run here. */
const NO_THREAD = 'a worker runs in a thread of the proxy'

const folder = resolve(process.argv[2] ?? '')
const compiled = join(folder, '.compiled')
if (keepCompiledCode(compiled)?.startsWith(compiled) !== true) throw new Error(`cannot write ${compiled}`)
for (const name of readdirSync(folder).filter((file) => file.endsWith('.js') && file !== COMMAND)) {
  await import(pathToFileURL(join(folder, name)).href).catch((error: unknown) => {
    if (!(error instanceof Error) || error.message !== NO_THREAD) throw error
  })
}
// Modules may have started what would keep the process alive. Node writes the files at the exit.
process.exit()
