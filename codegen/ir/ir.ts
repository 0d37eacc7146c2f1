// The rendered configuration: its types and compiled validators, from the JSON Schema files of api/ir/schema.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compileFromFile } from 'json-schema-to-typescript'
import { parse } from 'yaml'
import { byCodePoint } from '../names.ts'
import type { Output } from '../output.ts'
import { STYLE } from '../types/print.ts'
import { BANNER } from '../types/print.ts'
import { compileModule } from '../validators/compile.ts'
import type { AjvSchema } from '../validators/structure.ts'

const ENTRIES = ['config', 'secrets'] as const

/** References between the files are resolved against these names. */
const BASE = 'ir:///'

export async function renderedConfig(root: string, output: Output): Promise<void> {
  const folder = join(root, 'api/ir/schema')
  const types: string[] = []
  for (const entry of ENTRIES) types.push(await typesOf(folder, entry))
  output.add(
    'api/ir/types.gen.ts',
    `// Generated from api/ir/schema by \`make generate\`. Do not edit.\n\n${types.join('')}`,
  )
  const schemas = readSchemas(folder)
  for (const entry of ENTRIES) {
    output.add(
      `api/ir/${entry}.gen.js`,
      compileModule({ schemas, entry: `${BASE}${entry}.yaml`, runtime: '../validate/runtime.ts' }),
    )
    const lines = [
      BANNER,
      "import type { StructureValidator } from '../validate/structure.ts'",
      '',
      'export const validate: StructureValidator',
    ]
    output.add(`api/ir/${entry}.gen.d.ts`, lines.join('\n'))
  }
}

async function typesOf(folder: string, entry: string): Promise<string> {
  return compileFromFile(join(folder, `${entry}.yaml`), {
    cwd: folder,
    bannerComment: '',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    unknownAny: true,
    style: STYLE,
  })
}

function readSchemas(folder: string): AjvSchema[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'))
  return names.sort(byCodePoint).map((name) => {
    const file = join(folder, name)
    // A JSON Schema; ajv refuses anything else.
    const schema = parse(readFileSync(file, 'utf8')) as AjvSchema
    return { $id: `${BASE}${relative(folder, file)}`, ...schema }
  })
}
