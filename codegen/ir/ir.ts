// The rendered configuration: its types and the tables of its check, from the JSON Schema files of api/ir/schema.
import { join } from 'node:path'
import { compileFromFile } from 'json-schema-to-typescript'
import { upperFirst } from '../names.ts'
import type { Output } from '../output.ts'
import { BANNER, STYLE } from '../types/print.ts'
import { Structures } from '../validators/structure.ts'
import { readTree } from './tree.ts'

const ENTRIES = ['config', 'secrets'] as const

export async function renderedConfig(root: string, output: Output): Promise<void> {
  const folder = join(root, 'api/ir/schema')
  const types: string[] = []
  for (const entry of ENTRIES) types.push(await typesOf(folder, entry))
  output.add(
    'api/ir/types.gen.ts',
    `// Generated from api/ir/schema by \`make generate\`. Do not edit.\n\n${types.join('')}`,
  )
  const structures = new Structures()
  for (const entry of ENTRIES) structures.export(entry, readTree(folder, `${entry}.yaml`), upperFirst(entry))
  const head = [BANNER, "import type { Structure } from '../validate/structure-check.ts'", '']
  output.add('api/ir/structure.gen.ts', [...head, ...structures.lines()].join('\n'))
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
