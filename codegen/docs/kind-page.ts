// The reference page of one kind: every type, every field with type, default, limits and description, every rule.
import { API_VERSION } from '../../api/group.ts'
import type { Kind } from '../kinds/kind.ts'
import type { Output } from '../output.ts'
import type { SchemaNode } from '../schema/node.ts'
import { type NamedType, TypeCollection } from '../types/collect.ts'
import { anchor, cell, code, limitsOf, MARKDOWN_BANNER } from './markdown.ts'

export function kindPages(kinds: readonly Kind[], output: Output): void {
  for (const kind of kinds) output.add(`docs/reference/${kind.names.kind.toLowerCase()}.md`, pageOf(kind))
}

function pageOf(kind: Kind): string {
  const { names } = kind
  const collection = new TypeCollection()
  const spec = collection.add(kind.spec, `${names.kind}Spec`)
  const status = kind.status === undefined ? undefined : collection.add(kind.status, `${names.kind}Status`)
  const rows = [
    row(['`apiVersion`', code(API_VERSION), '']),
    row(['`kind`', code(names.kind), '']),
    row(['`metadata`', 'object', 'Name, namespace, labels and annotations as for every object.']),
    row(['`spec`', link(spec), 'Required.']),
    ...(status === undefined ? [] : [statusRow(status, collection)]),
  ]
  const types = new Map(collection.types().map((type) => [type.name, type]))
  const sections = [...types.values()].filter(isObject).map((type) => section(type, types))
  const facts = [
    `- API version: ${code(API_VERSION)}, namespaced`,
    `- Resource: ${code(names.plural)}`,
    ...(names.shortNames === undefined ? [] : [`- Short names: ${names.shortNames.map(code).join(', ')}`]),
  ]
  return [
    MARKDOWN_BANNER,
    `# ${names.kind}`,
    kind.description.trim(),
    facts.join('\n'),
    table(['Field', 'Type', 'Description'], rows),
    ...rulesOf(kind.rules.map((rule) => rule.message ?? rule.rule)),
    ...sections,
  ].join('\n\n')
}

/** A kind may have a status without fields, which has no section. */
function statusRow(status: string, collection: TypeCollection): string {
  const hasFields = collection.types().some((type) => type.name === status && isObject(type))
  return row(
    hasFields ? ['`status`', link(status), 'Written by the controller.'] : ['`status`', 'object', 'Has no fields.'],
  )
}

const isObject = ({ node }: NamedType): boolean => node.properties !== undefined

function section({ name, node }: NamedType, types: ReadonlyMap<string, NamedType>): string {
  const required = new Set(node.required)
  const rows = Object.entries(node.properties ?? {}).map(([field, child]) => {
    const full = resolved(child, types)
    // A type that others name as well has the default of one of them.
    const fallback = child.default
    const limits = fieldLimits(child, types)
    const extra = [required.has(field) ? 'Required.' : '', child.description ?? full.description ?? '']
    const rules = messagesOf(child.$ref === undefined || !isLinked(child, types) ? full : {})
    return row([
      code(field),
      typeText(child, types),
      fallback === undefined ? '' : code(fallback),
      limits,
      [...extra, ...rules.map((rule) => `Rule: ${rule}.`)].filter((part) => part.trim() !== '').join(' '),
    ])
  })
  return [
    `## ${name}`,
    ...(node.description === undefined ? [] : [node.description.trim()]),
    ...(rows.length === 0 ? [] : [table(['Field', 'Type', 'Default', 'Limits', 'Description'], rows)]),
    ...rulesOf(messagesOf(node)),
  ].join('\n\n')
}

function messagesOf(node: SchemaNode): string[] {
  return (node['x-kubernetes-validations'] ?? []).map((rule) => (rule.message ?? rule.rule).trim().replace(/\.$/, ''))
}

function rulesOf(messages: readonly string[]): string[] {
  return messages.length === 0 ? [] : [`Rules:\n\n${messages.map((message) => `- ${cell(message)}`).join('\n')}`]
}

/** Follows names of types that have no section of their own. */
function resolved(node: SchemaNode, types: ReadonlyMap<string, NamedType>): SchemaNode {
  const target = node.$ref === undefined ? undefined : types.get(node.$ref)
  return target === undefined ? node : { ...target.node, ...node }
}

function isLinked(node: SchemaNode, types: ReadonlyMap<string, NamedType>): boolean {
  const target = node.$ref === undefined ? undefined : types.get(node.$ref)
  return target !== undefined && isObject(target)
}

function fieldLimits(node: SchemaNode, types: ReadonlyMap<string, NamedType>): string {
  const full = resolved(node, types)
  const own = isLinked(node, types) ? '' : limitsOf(full)
  const inner = full.items ?? (typeof full.additionalProperties === 'object' ? full.additionalProperties : undefined)
  const below = inner === undefined || isLinked(inner, types) ? '' : limitsOf(resolved(inner, types))
  return [own, below === '' ? '' : `each: ${below}`].filter((part) => part !== '').join('; ')
}

function typeText(node: SchemaNode, types: ReadonlyMap<string, NamedType>): string {
  if (isLinked(node, types)) return link(node.$ref ?? '')
  const full = resolved(node, types)
  if (full['x-kubernetes-int-or-string'] === true) return 'integer or string'
  if (full.items !== undefined) return `list of ${typeText(full.items, types)}`
  if (typeof full.additionalProperties === 'object') return `map of ${typeText(full.additionalProperties, types)}`
  return full.type ?? 'any'
}

function link(name: string): string {
  return `[${name}](#${anchor(name)})`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [row(head), row(head.map(() => '---')), ...rows].join('\n')
}
