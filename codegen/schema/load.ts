// Reads schema files and rejects keywords that no code evaluates. Does not follow references.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseDocument } from 'yaml'
import type { SchemaNode } from './node.ts'
import { SchemaError } from './schema-error.ts'

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    '$ref title description type format default nullable enum example pattern minLength maxLength minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties required ' +
    'properties additionalProperties items oneOf anyOf allOf not x-gw-fields x-gw-field ' +
    'x-kubernetes-preserve-unknown-fields x-kubernetes-int-or-string x-kubernetes-embedded-resource ' +
    'x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations'
  ).split(' '),
)

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean'])

export class SchemaFiles {
  /** Messages name files relative to this. */
  readonly root: string
  readonly #cache = new Map<string, unknown>()

  constructor(root: string) {
    this.root = root
  }

  name(file: string): string {
    return relative(this.root, file)
  }

  /** The parsed YAML of a file that is not a plain schema (a kind). */
  document(file: string): unknown {
    if (this.#cache.has(file)) return this.#cache.get(file)
    if (!existsSync(file)) throw new SchemaError(this.name(file), [], 'does not exist')
    const document = parseDocument(readFileSync(file, 'utf8'))
    const [error] = document.errors
    if (error !== undefined) throw new SchemaError(this.name(file), [], error.message)
    const value: unknown = document.toJS()
    this.#cache.set(file, value)
    return value
  }

  schema(file: string): SchemaNode {
    return this.checked(this.document(file), file, [])
  }

  /** Whether `value` is a schema whose every keyword is known. */
  checked(value: unknown, file: string, path: readonly string[]): SchemaNode {
    if (!isRecord(value)) throw new SchemaError(this.name(file), path, 'is not a schema (a mapping)')
    for (const key of Object.keys(value)) {
      if (!KEYWORDS.has(key)) throw new SchemaError(this.name(file), [...path, key], 'unknown schema keyword')
    }
    // The keywords are checked above; wrong value types under them are found by the API server and by ajv.
    const node = value as SchemaNode
    this.#checkValues(node, file, path)
    for (const [keyword, child] of children(node)) this.checked(child, file, [...path, ...keyword])
    return node
  }

  #checkValues({ type, pattern }: SchemaNode, file: string, path: readonly string[]): void {
    if (type !== undefined && !TYPES.has(type))
      throw new SchemaError(this.name(file), [...path, 'type'], 'unknown type')
    // Read by RE2 in the API server and here, and shown to users of other engines: only what all of them know.
    if (pattern !== undefined && !isRegExp(pattern)) {
      throw new SchemaError(this.name(file), [...path, 'pattern'], 'is not a regular expression')
    }
  }
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').flags === 'u'
  } catch {
    return false
  }
}

/** The schemas directly below a node, with their place. */
export function children(node: SchemaNode): [string[], SchemaNode][] {
  const found: [string[], SchemaNode][] = []
  for (const [name, child] of Object.entries(node.properties ?? {})) found.push([['properties', name], child])
  if (node.items !== undefined) found.push([['items'], node.items])
  if (typeof node.additionalProperties === 'object') found.push([['additionalProperties'], node.additionalProperties])
  for (const keyword of ['oneOf', 'anyOf', 'allOf'] as const) {
    for (const [index, child] of (node[keyword] ?? []).entries()) found.push([[keyword, String(index)], child])
  }
  if (node.not !== undefined) found.push([['not'], node.not])
  return found
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
