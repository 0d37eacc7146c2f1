// TypeScript types of the Gateway API kinds: one module a kind, every nested type prefixed by the kind.
import type { Output } from '../output.ts'
import type { SchemaNode } from '../schema/node.ts'
import { hoist } from '../types/hoist.ts'
import { normalise, type TypeSchema } from '../types/normalise.ts'
import { printTypes } from '../types/print.ts'
import type { GatewayKind } from './crds.ts'

export async function gatewayTypes(kinds: readonly GatewayKind[], output: Output): Promise<void> {
  for (const kind of kinds) {
    output.add(`api/gateway/${kind.kind.toLowerCase()}.gen.ts`, await moduleOf(kind))
  }
}

async function moduleOf({ kind, group, version, schema }: GatewayKind): Promise<string> {
  const properties: Record<string, SchemaNode> = { ...schema.properties }
  delete properties['apiVersion']
  delete properties['kind']
  delete properties['metadata']
  const { root, definitions } = hoist({ ...schema, properties }, kind)
  const typed = normalise(root)
  const top: TypeSchema = {
    ...typed,
    properties: {
      apiVersion: { enum: [`${group}/${version}`] },
      kind: { enum: [kind] },
      metadata: { tsType: 'ObjectMeta' },
      ...typed.properties,
    },
    required: ['apiVersion', 'kind', 'metadata', ...(typed.required ?? [])],
    definitions: Object.fromEntries(Object.entries(definitions).map(([name, node]) => [name, normalise(node)])),
  }
  return printTypes({ name: kind, schema: top, imports: ["import type { ObjectMeta } from '../kube/object-meta.ts'"] })
}
