// Writes api/validate/kinds: the tables of each kind for structure and semantics, and the register of them all.
import { API_VERSION } from '../../api/group.ts'
import type { GatewayKind } from '../gateway/crds.ts'
import { type Kind, objectSchema } from '../kinds/kind.ts'
import { byCodePoint } from '../names.ts'
import type { Output } from '../output.ts'
import type { SchemaNode } from '../schema/node.ts'
import { BANNER } from '../types/print.ts'
import { semanticsLines } from './semantics.ts'
import { Structures } from './structure.ts'

const FOLDER = 'api/validate/kinds'

export function kindValidators(kinds: readonly Kind[], output: Output): void {
  for (const kind of kinds) addFiles(kind.names.kind, objectSchema(kind), output)
}

export function gatewayValidators(kinds: readonly GatewayKind[], output: Output): void {
  for (const { kind, schema } of kinds) addFiles(kind, schema, output)
}

export function validatorRegister(own: readonly Kind[], gateway: readonly GatewayKind[], output: Output): void {
  const modules: { module: string; keys: string[] }[] = [
    ...own.map(({ names }) => ({ module: names.kind.toLowerCase(), keys: [`${API_VERSION}/${names.kind}`] })),
    ...gateway.map(({ kind, group, servedVersions }) => {
      return { module: kind.toLowerCase(), keys: servedVersions.map((version) => `${group}/${version}/${kind}`) }
    }),
  ].sort((left, right) => byCodePoint(left.module, right.module))
  const imports = modules.flatMap(({ module }) => [
    `import { structure as ${module}Structure } from './${module}.structure.gen.ts'`,
    `import { semantics as ${module}Semantics } from './${module}.semantics.gen.ts'`,
  ])
  const entries = modules.flatMap(({ module, keys }) => {
    return keys.map((key) => `  ['${key}', { structure: ${module}Structure, semantics: ${module}Semantics }],`)
  })
  const lines = [
    BANNER,
    "import type { Semantics } from '../semantics.ts'",
    "import type { Structure } from '../structure-check.ts'",
    ...imports,
    '',
    'export interface KindSchema {',
    '  readonly structure: Structure',
    '  readonly semantics: Semantics',
    '}',
    '',
    '/** By `apiVersion/kind`. */',
    'export const KINDS: ReadonlyMap<string, KindSchema> = new Map([',
    ...entries,
    '])',
  ]
  output.add(`${FOLDER}/register.gen.ts`, lines.join('\n'))
}

function addFiles(kind: string, schema: SchemaNode, output: Output): void {
  const name = kind.toLowerCase()
  const structures = new Structures()
  structures.export('structure', schema, kind)
  const files = {
    structure: ["import type { Structure } from '../structure-check.ts'", '', ...structures.lines()],
    semantics: ["import type { Semantics } from '../semantics.ts'", '', ...semanticsLines(schema, kind)],
  }
  for (const [part, lines] of Object.entries(files)) {
    output.add(`${FOLDER}/${name}.${part}.gen.ts`, [BANNER, ...lines].join('\n'))
  }
}
