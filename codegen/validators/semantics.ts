// From a structural schema to the tree of what JSON Schema cannot say: defaults, list kinds, rules, names in CEL.
import { byCodePoint, singular, upperFirst } from '../names.ts'
import type { Rule, SchemaNode } from '../schema/node.ts'
import { Constants, Reference } from './constants.ts'

interface Entry {
  defaults?: Record<string, unknown>
  fields?: Record<string, Entry | Reference>
  items?: Entry | Reference
  values?: Entry | Reference
  nullable?: string[]
  nullableValues?: true
  free?: true
  known?: string[]
  list?: 'set' | string[]
  double?: true
  escaped?: Record<string, string>
  rules?: Rule[]
}

/** The lines of a module that exports `semantics`. */
export function semanticsLines(root: SchemaNode, path: string): readonly string[] {
  const constants = new Constants('Semantics')
  constants.export('semantics', new Entries(constants).entry(root, path) ?? {})
  return constants.lines()
}

class Entries {
  readonly #constants: Constants

  constructor(constants: Constants) {
    this.#constants = constants
  }

  /** Absent: nothing to say about this node and all below. */
  #part(node: SchemaNode, path: string): Entry | Reference | undefined {
    const entry = this.entry(node, path)
    if (entry === undefined || node.properties === undefined) return entry
    return this.#constants.add(node.title === undefined ? [path] : [node.title, path], entry)
  }

  entry(node: SchemaNode, path: string): Entry | undefined {
    const entry: Entry = {}
    this.#object(node, entry, path)
    this.#list(node, entry, path)
    if (node.type === 'number') entry.double = true
    const rules = node['x-kubernetes-validations'] ?? []
    if (rules.length > 0) entry.rules = rules
    return Object.keys(entry).length === 0 ? undefined : entry
  }

  #object(node: SchemaNode, entry: Entry, path: string): void {
    const defaults: Record<string, unknown> = {}
    const fields: Record<string, Entry | Reference> = {}
    const escaped: Record<string, string> = {}
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      if (child.default !== undefined) defaults[name] = child.default
      const part = this.#part(child, path + upperFirst(name))
      if (part !== undefined) fields[name] = part
      const written = celName(name)
      if (written !== name) escaped[name] = written
    }
    if (Object.keys(defaults).length > 0) entry.defaults = defaults
    if (Object.keys(fields).length > 0) entry.fields = fields
    if (Object.keys(escaped).length > 0) entry.escaped = escaped
    if (typeof node.additionalProperties === 'object') {
      const values = this.#part(node.additionalProperties, `${path}Value`)
      if (values !== undefined) entry.values = values
    }
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

  #list(node: SchemaNode, entry: Entry, path: string): void {
    const items = node.items === undefined ? undefined : this.#part(node.items, singular(path))
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
