// Writes api/validate/kinds: a compiled validator and a table for each distinct schema, and the register of them all.
import { API_VERSION } from '../../api/group.ts'
import type { GatewayKind } from '../gateway/crds.ts'
import { type Kind, objectSchema } from '../kinds/kind.ts'
import { byCodePoint } from '../names.ts'
import type { Output } from '../output.ts'
import type { SchemaNode } from '../schema/node.ts'
import { BANNER } from '../types/print.ts'
import { compileModule } from './compile.ts'
import { printSemantics } from './semantics.ts'
import { structureSchema } from './structure.ts'

const FOLDER = 'api/validate/kinds'

export function kindValidators(kinds: readonly Kind[], output: Output): void {
  for (const kind of kinds) addFiles(kind.names.kind.toLowerCase(), objectSchema(kind), output)
}

export function gatewayValidators(kinds: readonly GatewayKind[], output: Output): void {
  for (const { kind, schema } of kinds) addFiles(kind.toLowerCase(), schema, output)
}

export function validatorRegister(own: readonly Kind[], gateway: readonly GatewayKind[], output: Output): void {
  const modules: { module: string; keys: string[] }[] = [
    ...own.map(({ names }) => ({ module: names.kind.toLowerCase(), keys: [`${API_VERSION}/${names.kind}`] })),
    ...gateway.map(({ kind, group, servedVersions }) => {
      return { module: kind.toLowerCase(), keys: servedVersions.map((version) => `${group}/${version}/${kind}`) }
    }),
  ].sort((left, right) => byCodePoint(left.module, right.module))
  const imports = modules.flatMap(({ module }) => [
    `import { validate as ${module} } from './${module}.gen.js'`,
    `import { semantics as ${module}Semantics } from './${module}.semantics.gen.ts'`,
  ])
  const entries = modules.flatMap(({ module, keys }) => {
    return keys.map((key) => `  ['${key}', { validate: ${module}, semantics: ${module}Semantics }],`)
  })
  const lines = [
    BANNER,
    "import type { SemanticTable } from '../semantics.ts'",
    "import type { StructureValidator } from '../structure.ts'",
    ...imports,
    '',
    'export interface KindSchema {',
    '  readonly validate: StructureValidator',
    '  readonly semantics: SemanticTable',
    '}',
    '',
    '/** By `apiVersion/kind`. */',
    'export const KINDS: ReadonlyMap<string, KindSchema> = new Map([',
    ...entries,
    '])',
  ]
  output.add(`${FOLDER}/register.gen.ts`, lines.join('\n'))
}

function addFiles(name: string, schema: SchemaNode, output: Output): void {
  const entry = 'object'
  const schemas = [{ $id: entry, ...structureSchema(schema) }]
  output.add(`${FOLDER}/${name}.gen.js`, compileModule({ schemas, entry, runtime: '../runtime.ts' }))
  output.add(`${FOLDER}/${name}.semantics.gen.ts`, printSemantics(schema, '../semantics.ts'))
  const types = [
    BANNER,
    "import type { StructureValidator } from '../structure.ts'",
    '',
    'export const validate: StructureValidator',
  ]
  output.add(`${FOLDER}/${name}.gen.d.ts`, types.join('\n'))
}
