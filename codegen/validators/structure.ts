// From a schema to the table that api/validate/structure-check.ts reads: the JSON Schema part of the API server's
// verdict, with unknown fields refused and without texts. Every object with fields is a constant of its own.
import { singular, upperFirst } from '../names.ts'
import type { SchemaNode } from '../schema/node.ts'
import { Constants, Reference } from './constants.ts'

/** Copied as they are: the check and the API server mean the same by them. */
const LIMITS = [
  'enum',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

/** Nothing checks these: a schema that uses one would promise too much. */
const UNCHECKED = ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'uniqueItems', 'allOf'] as const

/** Formats the API server checks; it ignores every other. */
const FORMATS = new Set([
  'date-time',
  'date',
  'duration',
  'ipv4',
  'ipv6',
  'cidr',
  'uri',
  'hostname',
  'email',
  'uuid',
  'byte',
])

/** What is printed as a `Structure` of the check; the compiler compares the two in the generated modules. */
interface Draft {
  [keyword: string]: unknown
  properties?: Record<string, Draft | Reference>
  rest?: true | Draft | Reference
}

export class Structures {
  readonly #constants = new Constants('Structure')
  /** Titles that stand for a structure around their place. */
  readonly #recursive = new Set<string>()

  export(name: string, root: SchemaNode, path: string): void {
    this.#constants.export(name, this.#draft(root, path))
  }

  lines(): readonly string[] {
    return this.#constants.lines()
  }

  /** @param path the name of a part without a title */
  #part(node: SchemaNode, path: string): Draft | Reference {
    const draft = this.#draft(node, path)
    if (node.properties === undefined) return draft
    const reference = this.#constants.add(node.title === undefined ? [path] : [node.title, path], draft)
    const { title = '' } = node
    if (this.#recursive.has(title) && reference.name !== title)
      throw new Error(`two structures have the title ${title}`)
    return reference
  }

  #draft(node: SchemaNode, path: string): Draft {
    const unchecked = UNCHECKED.find((keyword) => node[keyword] !== undefined)
    if (unchecked !== undefined) throw new Error(`${path}: the structural check does not know ${unchecked}`)
    if (node.$ref !== undefined) throw new Error(`${path}: only the items of a list refer to a structure around them`)
    const draft: Draft = { type: typeOf(node) }
    for (const key of LIMITS) if (node[key] !== undefined) draft[key] = node[key]
    if (node.format !== undefined && FORMATS.has(node.format)) draft['format'] = node.format
    if (node.items !== undefined) draft['items'] = this.#items(node.items, singular(path))
    if (node.required !== undefined && node.required.length > 0) draft['required'] = node.required
    this.#fields(node, draft, path)
    // The API server gives int-or-string its alternatives itself.
    if (node['x-kubernetes-int-or-string'] !== true) this.#alternatives(node, draft, path)
    return draft
  }

  #items({ $ref, ...node }: SchemaNode, path: string): Draft | Reference {
    if ($ref === undefined) return this.#part(node, path)
    this.#recursive.add($ref)
    return new Reference(`() => ${$ref}`)
  }

  #fields(node: SchemaNode, draft: Draft, path: string): void {
    const { properties, additionalProperties } = node
    if (properties !== undefined) {
      const fields = Object.entries(properties).map(([name, child]) => {
        return [name, this.#part(child, path + upperFirst(name))] as const
      })
      draft.properties = Object.fromEntries(fields)
    }
    if (node['x-kubernetes-preserve-unknown-fields'] === true) draft.rest = true
    else if (typeof additionalProperties === 'object') draft.rest = this.#part(additionalProperties, `${path}Value`)
    // An alternative says something about some fields, nothing about the others.
    else if (properties !== undefined && (additionalProperties === true || node.type === undefined)) draft.rest = true
    else if (properties === undefined && additionalProperties === false) draft.properties = {}
  }

  #alternatives(node: SchemaNode, draft: Draft, path: string): void {
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (node[keyword] !== undefined) draft[keyword] = node[keyword].map((child) => this.#part(child, path))
    }
    if (node.not !== undefined) draft['not'] = this.#part(node.not, path)
  }
}

function typeOf(node: SchemaNode): string | readonly string[] | undefined {
  const type = node['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : node.type
  if (node.nullable !== true || type === undefined) return type
  return [...[type].flat(), 'null']
}
