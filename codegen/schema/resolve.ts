// Follows `$ref` and `x-gw-fields` and gives one tree without either. A title stays on the node it names.
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve as resolvePath } from 'node:path'
import { byCodePoint, camelCase } from '../names.ts'
import { type SchemaFiles } from './load.ts'
import type { SchemaNode } from './node.ts'
import { SchemaError } from './schema-error.ts'

interface SchemaPlace {
  readonly file: string
  readonly path: readonly string[]
  /** Files on the way here: a second visit is a cycle, which a CRD cannot express. */
  readonly trail: readonly string[]
}

export function resolveFile(files: SchemaFiles, file: string): SchemaNode {
  return resolveNode(files, files.schema(file), { file, path: [], trail: [file] })
}

/** @param value a schema inside `file`, at `path` */
export function resolveInline(files: SchemaFiles, value: unknown, file: string, path: readonly string[]): SchemaNode {
  return resolveNode(files, files.checked(value, file, path), { file, path, trail: [file] })
}

function resolveNode(files: SchemaFiles, node: SchemaNode, place: SchemaPlace): SchemaNode {
  const { $ref, 'x-gw-fields': folder, 'x-gw-field': _field, ...own } = node
  const result: SchemaNode = { ...own, ...resolveBelow(files, own, place) }
  if (folder !== undefined) {
    result.properties ??= {}
    for (const [name, field] of Object.entries(folderFields(files, folder, place))) {
      if (Object.hasOwn(result.properties, name)) fail(files, place, `property ${name} is also a file of ${folder}`)
      result.properties[name] = field
    }
  }
  return $ref === undefined ? result : merge(follow(files, $ref, place), result)
}

/** The keywords of a node that hold schemas, resolved. */
function resolveBelow(files: SchemaFiles, node: SchemaNode, place: SchemaPlace): SchemaNode {
  const result: SchemaNode = {}
  const below = (child: SchemaNode, ...step: string[]): SchemaNode =>
    resolveNode(files, child, { ...place, path: [...place.path, ...step] })
  if (node.properties !== undefined) result.properties = resolveProperties(files, node.properties, place)
  if (node.items !== undefined) result.items = below(node.items, 'items')
  if (typeof node.additionalProperties === 'object') {
    result.additionalProperties = below(node.additionalProperties, 'additionalProperties')
  }
  for (const keyword of ['oneOf', 'anyOf', 'allOf'] as const) {
    const list = node[keyword]
    if (list !== undefined) result[keyword] = list.map((child, index) => below(child, keyword, String(index)))
  }
  if (node.not !== undefined) result.not = below(node.not, 'not')
  return result
}

function resolveProperties(
  files: SchemaFiles,
  properties: Record<string, SchemaNode>,
  place: SchemaPlace,
): Record<string, SchemaNode> {
  const resolved = Object.entries(properties).map(([name, child]) => {
    return [name, resolveNode(files, child, { ...place, path: [...place.path, 'properties', name] })] as const
  })
  return Object.fromEntries(resolved)
}

function follow(files: SchemaFiles, ref: string, place: SchemaPlace): SchemaNode {
  if (/^\/|:|#/.test(ref) || !ref.endsWith('.yaml')) fail(files, place, `$ref ${ref} must be a relative .yaml path`)
  const target = resolvePath(dirname(place.file), ref)
  if (!existsSync(target)) fail(files, place, `$ref ${ref}: ${files.name(target)} does not exist`)
  if (place.trail.includes(target)) {
    const names = [...place.trail, target].map((file) => files.name(file))
    fail(files, place, `$ref cycle ${names.join(' -> ')}`)
  }
  return resolveNode(files, files.schema(target), { file: target, path: [], trail: [...place.trail, target] })
}

function folderFields(files: SchemaFiles, folder: string, place: SchemaPlace): Record<string, SchemaNode> {
  const target = resolvePath(dirname(place.file), folder)
  if (!existsSync(target)) fail(files, place, `x-gw-fields ${folder}: ${files.name(target)} does not exist`)
  const names = readdirSync(target).filter((name) => name.endsWith('.yaml'))
  const fields: Record<string, SchemaNode> = {}
  for (const name of names.sort(byCodePoint)) {
    const ref = `./${resolvePath(target, name)}`
    const property = files.schema(resolvePath(target, name))['x-gw-field'] ?? camelCase(basename(name, '.yaml'))
    if (Object.hasOwn(fields, property)) fail(files, place, `two files of ${folder} are property ${property} (${ref})`)
    fields[property] = follow(files, `./${folder}/${name}`, place)
  }
  return fields
}

/** Siblings of a reference win over the referenced schema; rules and required fields add up. */
function merge(target: SchemaNode, siblings: SchemaNode): SchemaNode {
  const result: SchemaNode = { ...target, ...siblings }
  const typeDescription = target['x-gw-type-description'] ?? target.description
  if (siblings.title !== undefined) delete result['x-gw-type-description']
  else if (typeDescription !== undefined) result['x-gw-type-description'] = typeDescription
  if (target.properties !== undefined && siblings.properties !== undefined) {
    result.properties = { ...target.properties, ...siblings.properties }
  }
  if (target.required !== undefined && siblings.required !== undefined) {
    result.required = [...new Set([...target.required, ...siblings.required])]
  }
  const rules = [...(target['x-kubernetes-validations'] ?? []), ...(siblings['x-kubernetes-validations'] ?? [])]
  if (rules.length > 0) result['x-kubernetes-validations'] = rules
  return result
}

function fail(files: SchemaFiles, place: SchemaPlace, message: string): never {
  throw new SchemaError(files.name(place.file), place.path, message)
}
