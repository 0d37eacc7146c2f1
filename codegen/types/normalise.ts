// A copy of a schema that json-schema-to-typescript turns into good types. Changes what is printed, never what is
// validated: everything that only limits values is dropped.
import type { SchemaNode } from '../schema/node.ts'

/** What json-schema-to-typescript reads. */
export interface TypeSchema {
  $ref?: string
  title?: string
  description?: string
  type?: string
  enum?: unknown[]
  tsType?: string
  properties?: Record<string, TypeSchema>
  required?: string[]
  additionalProperties?: boolean | TypeSchema
  items?: TypeSchema
  anyOf?: TypeSchema[]
  allOf?: TypeSchema[]
  definitions?: Record<string, TypeSchema>
}

export function normalise(node: SchemaNode): TypeSchema {
  const described: TypeSchema = node.description === undefined ? {} : { description: safeComment(node.description) }
  // A reference with siblings would become a second, numbered type.
  if (node.$ref !== undefined) return { ...described, allOf: [{ $ref: node.$ref }] }
  if (node['x-kubernetes-int-or-string'] === true)
    return { ...described, anyOf: [{ type: 'integer' }, { type: 'string' }] }
  if (node.enum !== undefined) return { ...described, enum: node.enum }
  if (node.type === 'array') return { ...described, type: 'array', items: normalise(node.items ?? {}) }
  if (node.type === 'object' || node.properties !== undefined) return { ...described, ...normaliseObject(node) }
  if (node.type !== undefined) return { ...described, type: node.type }
  return described
}

function normaliseObject(node: SchemaNode): TypeSchema {
  const result: TypeSchema = { type: 'object', additionalProperties: openness(node) }
  if (node.properties === undefined) return result
  const entries = Object.entries(node.properties).map(([name, child]) => [name, normalise(child)] as const)
  result.properties = Object.fromEntries(entries)
  // A required name without a property would open the type with an index signature.
  result.required = (node.required ?? []).filter((name) => Object.hasOwn(node.properties ?? {}, name))
  return result
}

function openness(node: SchemaNode): boolean | TypeSchema {
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return {}
  if (typeof node.additionalProperties === 'object') return normalise(node.additionalProperties)
  if (node.additionalProperties === true) return {}
  return false
}

function safeComment(text: string): string {
  return text.trimEnd().replaceAll('*/', '* /')
}
