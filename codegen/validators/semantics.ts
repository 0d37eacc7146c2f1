// From a structural schema to the table of what JSON Schema cannot say: defaults, list kinds, rules, names in CEL.
import { byCodePoint } from '../names.ts'
import { BANNER } from '../types/print.ts'
import type { Rule, SchemaNode } from '../schema/node.ts'

interface Entry {
  defaults?: Record<string, unknown>
  fields?: Record<string, number>
  items?: number
  values?: number
  nullable?: string[]
  nullableValues?: true
  free?: true
  known?: string[]
  list?: 'set' | string[]
  double?: true
  escaped?: Record<string, string>
  rules?: Rule[]
}

/** @param types import path of the module with the type of the table */
export function printSemantics(root: SchemaNode, types: string): string {
  const table = new Table()
  const entry = table.entry(root)
  const lines = [...table.lines, JSON.stringify(entry ?? {})].map((line) => `  ${line},`)
  return [
    BANNER,
    `import type { SemanticTable } from '${types}'`,
    '',
    'export const semantics: SemanticTable = [',
    ...lines,
    ']',
  ].join('\n')
}

class Table {
  readonly lines: string[] = []
  readonly #indexes = new Map<string, number>()

  /** Absent: nothing to say about this node and all below. */
  #index(node: SchemaNode): number | undefined {
    const entry = this.entry(node)
    if (entry === undefined) return undefined
    const text = JSON.stringify(entry)
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    this.lines.push(text)
    this.#indexes.set(text, this.lines.length - 1)
    return this.lines.length - 1
  }

  entry(node: SchemaNode): Entry | undefined {
    const entry: Entry = {}
    this.#object(node, entry)
    this.#list(node, entry)
    if (node.type === 'number') entry.double = true
    const rules = node['x-kubernetes-validations'] ?? []
    if (rules.length > 0) entry.rules = rules
    return Object.keys(entry).length === 0 ? undefined : entry
  }

  #object(node: SchemaNode, entry: Entry): void {
    const defaults: Record<string, unknown> = {}
    const fields: Record<string, number> = {}
    const escaped: Record<string, string> = {}
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      if (child.default !== undefined) defaults[name] = child.default
      const index = this.#index(child)
      if (index !== undefined) fields[name] = index
      const written = celName(name)
      if (written !== name) escaped[name] = written
    }
    if (Object.keys(defaults).length > 0) entry.defaults = defaults
    if (Object.keys(fields).length > 0) entry.fields = fields
    if (Object.keys(escaped).length > 0) entry.escaped = escaped
    const values = typeof node.additionalProperties === 'object' ? this.#index(node.additionalProperties) : undefined
    if (values !== undefined) entry.values = values
    this.#nulls(node, entry)
  }

  #nulls(node: SchemaNode, entry: Entry): void {
    const nullable = Object.entries(node.properties ?? {}).filter(([, child]) => child.nullable === true)
    if (nullable.length > 0) entry.nullable = nullable.map(([name]) => name)
    if (typeof node.additionalProperties === 'object' && node.additionalProperties.nullable === true) {
      entry.nullableValues = true
    }
    if (node['x-kubernetes-preserve-unknown-fields'] !== true) return
    entry.free = true
    if (node.properties !== undefined) entry.known = Object.keys(node.properties)
  }

  #list(node: SchemaNode, entry: Entry): void {
    const items = node.items === undefined ? undefined : this.#index(node.items)
    if (items !== undefined) entry.items = items
    const kind = node['x-kubernetes-list-type']
    if (kind === 'set') entry.list = 'set'
    if (kind === 'map') entry.list = [...(node['x-kubernetes-list-map-keys'] ?? [])].sort(byCodePoint)
  }
}

const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import ' +
    'let loop package namespace return var void while'
  ).split(' '),
)

/** How Kubernetes writes a field name in CEL. */
function celName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`
  return name.replaceAll(/__|[.\-/]/g, (part) => ESCAPES[part] ?? part)
}

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
