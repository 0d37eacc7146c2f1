// `make generate`, `make verify`: writes every generated file, or reports which ones are not what their source gives.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MissingInput } from './missing-input.ts'
import { SchemaError } from './schema/schema-error.ts'

const root = join(import.meta.dirname, '..')

/** @returns what is wrong, one line each */
async function run(): Promise<string[]> {
  if (!existsSync(join(root, 'node_modules/yaml'))) throw new MissingInput('node_modules', 'make install')
  // Below this line the dependencies are needed.
  const { generate } = await import('./generate.ts')
  const { Output } = await import('./output.ts')
  const output = new Output()
  const failures = await generate(root, output)
  // While a schema is broken the files of its kind are kept.
  const orphans = failures.length === 0 ? await output.orphans(root) : []
  if (process.argv.includes('--verify')) {
    for (const path of await output.differing(root)) failures.push(`${path} is out of date: run \`make generate\``)
    for (const path of orphans) failures.push(`${path} has no source any more: run \`make generate\``)
    return failures
  }
  for (const path of await output.write(root)) console.log(`wrote ${path}`)
  for (const path of orphans) console.log(`removed ${path}`)
  await Output.remove(root, orphans)
  return failures
}

const failures = await run().catch((error: unknown) => {
  if (error instanceof MissingInput || error instanceof SchemaError) return [error.message]
  throw error
})
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
