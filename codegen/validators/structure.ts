// From a structural schema to what ajv checks: the JSON Schema part of the API server's verdict, with unknown fields
// refused. Equal objects become one definition, so that the compiled code stays small.
import { isRecord } from '../schema/load.ts'
import type { SchemaNode } from '../schema/node.ts'

export type AjvSchema = Record<string, unknown>

/** Copied as they are: ajv and the API server mean the same by them. */
const LIMITS = [
  'pattern',
  'minLength',
  'maxLength',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'enum',
] as const

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

export function structureSchema(root: SchemaNode): AjvSchema {
  const converted = convert(root)
  return share(converted)
}

function convert(node: SchemaNode): AjvSchema {
  const result: AjvSchema = { ...contents(node), ...bounds(node) }
  for (const key of LIMITS) if (node[key] !== undefined) result[key] = node[key]
  if (node.format !== undefined && FORMATS.has(node.format)) result['format'] = node.format
  const type = typeOf(node)
  if (type !== undefined) result['type'] = type
  if (type === 'object') result['additionalProperties'] = rest(node)
  // The API server gives int-or-string its alternatives itself.
  return node['x-kubernetes-int-or-string'] === true ? result : { ...result, ...alternatives(node) }
}

function contents(node: SchemaNode): AjvSchema {
  const result: AjvSchema = {}
  if (node.items !== undefined) result['items'] = convert(node.items)
  if (node.properties !== undefined) result['properties'] = mapValues(node.properties, convert)
  if (node.required !== undefined && node.required.length > 0) result['required'] = node.required
  return result
}

function alternatives(node: SchemaNode): AjvSchema {
  const result: AjvSchema = {}
  for (const keyword of ['oneOf', 'anyOf', 'allOf'] as const) {
    if (node[keyword] !== undefined) result[keyword] = node[keyword].map(convert)
  }
  if (node.not !== undefined) result['not'] = convert(node.not)
  return result
}

function typeOf(node: SchemaNode): string | string[] | undefined {
  const type = node['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : node.type
  if (node.nullable !== true || type === undefined) return type
  return [type, 'null'].flat()
}

function bounds(node: SchemaNode): AjvSchema {
  const result: AjvSchema = {}
  // OpenAPI v3 exclusive bounds are flags beside the bound.
  if (node.minimum !== undefined) result[node.exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = node.minimum
  if (node.maximum !== undefined) result[node.exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = node.maximum
  return result
}

function rest(node: SchemaNode): boolean | AjvSchema {
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return true
  if (typeof node.additionalProperties === 'object') return convert(node.additionalProperties)
  if (node.additionalProperties === true) return true
  return node.properties === undefined
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

/** Hoists objects with properties into `$defs`, one for each distinct structure. */
function share(root: AjvSchema): AjvSchema {
  const names = new Map<string, string>()
  const definitions: Record<string, unknown> = {}

  function visit(value: unknown, insideProperties: boolean): unknown {
    if (Array.isArray(value)) return value.map((item) => visit(item, false))
    if (!isRecord(value)) return value
    const entries = Object.entries(value).map(([key, child]) => {
      return [key, visit(child, key === 'properties' && !insideProperties)] as const
    })
    const copy = Object.fromEntries(entries)
    if (insideProperties || copy['type'] !== 'object' || copy['properties'] === undefined) return copy
    const text = JSON.stringify(copy)
    const name = names.get(text) ?? `d${names.size}`
    names.set(text, name)
    definitions[name] = copy
    return { $ref: `#/$defs/${name}` }
  }

  return { ...(visit(root, false) as AjvSchema), $defs: definitions }
}
