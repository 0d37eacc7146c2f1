// Reads a JSON Schema file of api/ir/schema and all that it refers to as one tree. A keyword that nothing checks is an
// error.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parse } from 'yaml'
import { isRecord } from '../schema/load.ts'
import type { SchemaNode } from '../schema/node.ts'
import { SchemaError } from '../schema/schema-error.ts'

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    '$ref title description type enum pattern minLength maxLength minimum maximum minItems maxItems items ' +
    'minProperties maxProperties required properties additionalProperties not anyOf oneOf'
  ).split(' '),
)

interface SchemaPlace {
  readonly folder: string
  readonly file: string
  readonly path: readonly string[]
  /** Files, with the place in them, on the way here. */
  readonly trail: readonly string[]
}

/**
 * @param file relative to `folder`
 * @returns a tree in which `$ref` is the title of a schema around it
 */
export function readTree(folder: string, file: string): SchemaNode {
  return fileTree({ folder, file, path: [], trail: [] })
}

function fileTree(place: SchemaPlace): SchemaNode {
  const { folder, file, path, trail } = place
  const target = [file, ...path].join('/')
  if (!existsSync(join(folder, file))) fail(place, 'does not exist')
  const schema: unknown = parse(readFileSync(join(folder, file), 'utf8'))
  const part = path.reduce((whole, key) => (isRecord(whole) ? whole[key] : undefined), schema)
  if (trail.includes(target)) {
    if (!isRecord(part) || typeof part['title'] !== 'string') return fail(place, 'refers to itself and has no title')
    return { $ref: part['title'] }
  }
  return nodeTree(part, { ...place, trail: [...trail, target] })
}

function nodeTree(value: unknown, place: SchemaPlace): SchemaNode {
  if (!isRecord(value)) return fail(place, 'is not a schema')
  const unknown = Object.keys(value).find((key) => !KEYWORDS.has(key))
  if (unknown !== undefined) fail(place, `unknown keyword ${unknown}`)
  const { $ref } = value
  if (typeof $ref === 'string') {
    const [name = '', pointer = ''] = $ref.split('#')
    const file = name === '' ? place.file : normalize(join(dirname(place.file), name))
    return fileTree({ ...place, file, path: pointer.split('/').slice(1) })
  }
  const below = (child: unknown, ...step: string[]): SchemaNode =>
    nodeTree(child, { ...place, path: [...place.path, ...step] })
  const tree: Record<string, unknown> = { ...value }
  for (const keyword of ['items', 'additionalProperties', 'not']) {
    if (isRecord(value[keyword])) tree[keyword] = below(value[keyword], keyword)
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const list = value[keyword]
    if (Array.isArray(list)) tree[keyword] = list.map((child, index) => below(child, keyword, String(index)))
  }
  if (isRecord(value['properties'])) {
    const fields = Object.entries(value['properties'])
    tree['properties'] = Object.fromEntries(fields.map(([name, child]) => [name, below(child, 'properties', name)]))
  }
  return tree
}

function fail({ file, path }: SchemaPlace, message: string): never {
  throw new SchemaError(`api/ir/schema/${file}`, path, message)
}
