// The schemas of the generated CRDs, as tests walk them. For tests and developer scripts only.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export interface CrdRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly fieldPath?: string
}

export interface CrdNode {
  readonly description?: string
  readonly type?: string
  readonly default?: unknown
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, CrdNode>>
  readonly additionalProperties?: boolean | CrdNode
  readonly items?: CrdNode
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-validations'?: readonly CrdRule[]
}

export interface CrdKind {
  /** In lower case: the name of its folder in testdata. */
  readonly name: string
  readonly plural: string
  readonly isNamespaced: boolean
  readonly schema: CrdNode
}

interface Crd {
  spec: {
    names: { kind: string; plural: string }
    scope: string
    versions: { schema: { openAPIV3Schema: CrdNode } }[]
  }
}

const FOLDER = join(import.meta.dirname, '../../config/crd')

/** Files of our own CRDs. */
export function crdFiles(): string[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'))
  return files.sort().map((name) => join(FOLDER, name))
}

/** Our own kinds. */
export function loadCrdKinds(): CrdKind[] {
  return crdFiles().map(loadCrdKind)
}

export function loadCrdKind(file: string): CrdKind {
  // A CRD file that is generated or checksum-verified.
  const { spec } = parse(readFileSync(file, 'utf8')) as Crd
  const schema = spec.versions[0]?.schema.openAPIV3Schema ?? {}
  const { kind, plural } = spec.names
  return { name: kind.toLowerCase(), plural, isNamespaced: spec.scope === 'Namespaced', schema }
}

/** One value of an object together with its schema. */
export interface SchemaValue {
  readonly node: CrdNode
  readonly value: unknown
  /** As the structural check of the API server prints it. */
  readonly path: string
  /** The path with `[]` for every index and `{}` for every key of a map. */
  readonly pattern: string
  /**
   * Equal for the same field of equal structures, wherever they stand (the policies of a backend stand in six places).
   */
  readonly kindOfPlace: string
  /** Keys and indexes from the root. */
  readonly steps: readonly (string | number)[]
}

/** Every value of `object` that a schema describes, the root first. */
export function* schemaValues(node: CrdNode, object: unknown): Generator<SchemaValue> {
  yield* valuesFrom({ node, value: object, path: '', pattern: '', kindOfPlace: '', steps: [] })
}

function* valuesFrom(place: SchemaValue): Generator<SchemaValue> {
  yield place
  const { value } = place
  if (Array.isArray(value)) yield* itemsFrom(place, value)
  else if (typeof value === 'object' && value !== null) yield* fieldsFrom(place, value)
}

const structures = new WeakMap<CrdNode, string>()

/** Equal for nodes that validate alike: descriptions do not count. */
function structureOf(node: CrdNode): string {
  const known = structures.get(node)
  if (known !== undefined) return known
  const text = JSON.stringify(node, (key, value: unknown) => {
    return key === 'description' && typeof value === 'string' ? undefined : value
  })
  const structure = createHash('sha256').update(text).digest('base64')
  structures.set(node, structure)
  return structure
}

function* itemsFrom({ node, path, pattern, steps }: SchemaValue, list: readonly unknown[]): Generator<SchemaValue> {
  if (node.items === undefined) return
  for (const [index, value] of list.entries()) {
    const place = { path: `${path}[${index}]`, pattern: `${pattern}[]`, kindOfPlace: `${structureOf(node)} []` }
    yield* valuesFrom({ node: node.items, value, ...place, steps: [...steps, index] })
  }
}

function* fieldsFrom({ node, path, pattern, steps }: SchemaValue, object: object): Generator<SchemaValue> {
  const dot = path === '' ? '' : '.'
  for (const [name, value] of Object.entries(object)) {
    const field = node.properties?.[name]
    const schema = field ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined)
    if (schema === undefined) continue
    const step = field === undefined ? '{}' : `${dot}${name}`
    const kindOfPlace = `${structureOf(node)} ${step}`
    const place = { path: `${path}${dot}${name}`, pattern: `${pattern}${step}`, kindOfPlace, steps: [...steps, name] }
    yield* valuesFrom({ node: schema, value, ...place })
  }
}

export interface SchemaPlace {
  readonly node: CrdNode
  readonly pattern: string
  readonly kindOfPlace: string
}

/** Every node of a schema, the root first. */
export function* schemaNodes(
  node: CrdNode,
  { pattern, kindOfPlace } = { pattern: '', kindOfPlace: '' },
): Generator<SchemaPlace> {
  yield { node, pattern, kindOfPlace }
  const below = (child: CrdNode, step: string): Generator<SchemaPlace> =>
    schemaNodes(child, { pattern: pattern + step, kindOfPlace: `${structureOf(node)} ${step}` })
  const dot = pattern === '' ? '' : '.'
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* below(child, `${dot}${name}`)
  if (node.items !== undefined) yield* below(node.items, '[]')
  if (typeof node.additionalProperties === 'object') yield* below(node.additionalProperties, '{}')
}
