// TypeScript types of our kinds: one module a kind, and one for the types that several kinds use.
import { API_VERSION } from '../../api/group.ts'
import type { Output } from '../output.ts'
import { byCodePoint } from '../names.ts'
import { type NamedType, TypeCollection } from '../types/collect.ts'
import { normalise, type TypeSchema } from '../types/normalise.ts'
import { printTypes } from '../types/print.ts'
import type { Kind } from './kind.ts'

const FOLDER = 'api/v1alpha1'
const SHARED_ROOT = 'SharedTypesRoot'

export async function kindTypes(kinds: readonly Kind[], output: Output): Promise<void> {
  const collection = new TypeCollection()
  const roots = kinds.map((kind) => ({
    kind,
    spec: collection.add(kind.spec, `${kind.names.kind}Spec`),
    status: kind.status === undefined ? undefined : collection.add(kind.status, `${kind.names.kind}Status`),
  }))
  const types = new Map(collection.types().map((type) => [type.name, type]))
  const reached = roots.map(({ spec, status }) => reachable(types, [spec, ...(status === undefined ? [] : [status])]))
  const shared = new Set([...types.keys()].filter((name) => reached.filter((set) => set.has(name)).length > 1))
  if (shared.size > 0) output.add(`${FOLDER}/shared.gen.ts`, await printShared(types, shared))
  for (const [index, { kind, spec, status }] of roots.entries()) {
    const own = [...(reached[index] ?? [])].filter((name) => !shared.has(name))
    const properties: Record<string, TypeSchema> = {
      apiVersion: { enum: [API_VERSION] },
      kind: { enum: [kind.names.kind] },
      metadata: { tsType: 'ObjectMeta' },
      spec: reference(spec, shared),
    }
    if (status !== undefined) properties['status'] = reference(status, shared)
    const schema: TypeSchema = {
      type: 'object',
      description: kind.description.trimEnd(),
      additionalProperties: false,
      properties,
      required: ['apiVersion', 'kind', 'metadata', 'spec'],
      definitions: definitionsOf(types, own, shared),
    }
    const imports = ["import type { ObjectMeta } from '../kube/object-meta.ts'", ...sharedImport(types, own, shared)]
    const text = await printTypes({ name: kind.names.kind, schema, imports })
    output.add(`${FOLDER}/${kind.names.kind.toLowerCase()}.gen.ts`, text)
  }
}

async function printShared(types: ReadonlyMap<string, NamedType>, shared: ReadonlySet<string>): Promise<string> {
  const names = [...shared].sort(byCodePoint)
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]))
  const definitions = definitionsOf(types, names, new Set())
  const schema: TypeSchema = { type: 'object', additionalProperties: false, properties, required: names, definitions }
  const text = await printTypes({ name: SHARED_ROOT, schema, imports: [] })
  // The root only makes every shared type reachable.
  return text.replace(new RegExp(`^export interface ${SHARED_ROOT} \\{\\n(?:  .*\\n)*\\}\\n`, 'm'), '')
}

function definitionsOf(
  types: ReadonlyMap<string, NamedType>,
  names: readonly string[],
  shared: ReadonlySet<string>,
): Record<string, TypeSchema> {
  const entries = names.map((name) => {
    const normalised = normalise(types.get(name)?.node ?? {})
    return [name, mapReferences(normalised, shared)] as const
  })
  return Object.fromEntries(entries)
}

function mapReferences(schema: TypeSchema, shared: ReadonlySet<string>): TypeSchema {
  const [only] = schema.allOf ?? []
  if (only?.$ref !== undefined)
    return { ...schema, allOf: [reference(only.$ref, shared)], ...tsType(only.$ref, shared) }
  const result: TypeSchema = { ...schema }
  if (schema.properties !== undefined) {
    const entries = Object.entries(schema.properties).map(
      ([key, child]) => [key, mapReferences(child, shared)] as const,
    )
    result.properties = Object.fromEntries(entries)
  }
  if (schema.items !== undefined) result.items = mapReferences(schema.items, shared)
  if (typeof schema.additionalProperties === 'object') {
    result.additionalProperties = mapReferences(schema.additionalProperties, shared)
  }
  return result
}

function reference(name: string, shared: ReadonlySet<string>): TypeSchema {
  return shared.has(name) ? { tsType: name } : { $ref: `#/definitions/${name}` }
}

function tsType(name: string, shared: ReadonlySet<string>): TypeSchema {
  return shared.has(name) ? { tsType: name } : {}
}

function reachable(types: ReadonlyMap<string, NamedType>, start: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const queue = [...start]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    queue.push(...(types.get(name)?.uses ?? []))
  }
  return seen
}

function sharedImport(
  types: ReadonlyMap<string, NamedType>,
  own: readonly string[],
  shared: ReadonlySet<string>,
): string[] {
  const used = new Set(own.flatMap((name) => [...(types.get(name)?.uses ?? [])]).filter((name) => shared.has(name)))
  if (used.size === 0) return []
  return [`import type { ${[...used].sort(byCodePoint).join(', ')} } from './shared.gen.ts'`]
}
