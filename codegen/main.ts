// `make generate` and `make verify`: writes every generated file, or tells which ones are not what their source gives.
import { join } from 'node:path'
import { generate } from './generate.ts'
import { Output } from './output.ts'

const root = join(import.meta.dirname, '..')
const output = new Output()
const failures = await generate(root, output)
// While a schema is broken the files of its kind are kept.
const orphans = failures.length === 0 ? await output.orphans(root) : []

if (process.argv.includes('--verify')) {
  for (const path of await output.differing(root)) failures.push(`${path} is out of date: run \`make generate\``)
  for (const path of orphans) failures.push(`${path} has no source any more: run \`make generate\``)
} else {
  for (const path of await output.write(root)) console.log(`wrote ${path}`)
  for (const path of orphans) console.log(`removed ${path}`)
  await Output.remove(root, orphans)
}
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
