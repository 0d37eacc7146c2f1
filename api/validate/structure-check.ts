// Checks a value against the structural part of a schema: types, limits, required and unknown fields. An interpreter of
// the generated tables; the errors come in the order in which a JSON Schema validator reports them.
import { codePoints, formats, re2 } from './runtime.ts'

export type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** Keywords of JSON Schema. An object with `properties` rejects all other fields unless `rest` allows them. */
export interface Structure {
  readonly type?: TypeName | readonly TypeName[]
  readonly enum?: readonly (string | number | boolean | null)[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  /** A function where the items are like a structure around the list. */
  readonly items?: Structure | (() => Structure)
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Structure>>
  /** Fields that `properties` does not name: anything, or values of this structure. */
  readonly rest?: true | Structure
  readonly not?: Structure
  readonly anyOf?: readonly Structure[]
  readonly oneOf?: readonly Structure[]
}

export interface StructureError {
  /** A JSON pointer into the checked value. */
  readonly instancePath: string
  readonly keyword: keyof Structure | 'additionalProperties'
  readonly params: Readonly<Record<string, unknown>>
}

/** Why an alternative of `anyOf`, `oneOf` or `not` failed is not reported, only that none or too many fit. */
export function structureErrors(structure: Structure, value: unknown): readonly StructureError[] {
  const walk: Walk = { errors: [], keys: [] }
  check(nodeOf(structure), value, walk)
  return walk.errors
}

interface Walk {
  readonly errors: StructureError[]
  /** From the checked value to the place of the walk. */
  readonly keys: (string | number)[]
}

/** A structure prepared for checks. Every node has the same shape. */
interface Node {
  readonly structure: Structure
  readonly types: number
  readonly pattern: ReturnType<typeof re2> | undefined
  readonly format: ((text: string) => boolean) | undefined
  /** Of the values of `properties`. */
  readonly fields: Node[]
  /** The index in `fields` of each of `properties`. */
  readonly places: ReadonlyMap<string, number>
  rest: boolean | Node
  items: Node | undefined
  alternatives: Alternatives | undefined
}

interface Alternatives {
  readonly not: Node | undefined
  readonly anyOf: readonly Node[] | undefined
  readonly oneOf: readonly Node[] | undefined
}

const STRING = 1
const NUMBER = 2
const INTEGER = 4
const BOOLEAN = 8
const NULL = 16
const ARRAY = 32
const OBJECT = 64

const BITS: Readonly<Record<TypeName, number>> = {
  string: STRING,
  number: NUMBER,
  integer: INTEGER,
  boolean: BOOLEAN,
  null: NULL,
  array: ARRAY,
  object: OBJECT,
}

/** Bounded: structures are constants of generated modules. */
const nodes = new WeakMap<Structure, Node>()

function nodeOf(structure: Structure): Node {
  const known = nodes.get(structure)
  if (known !== undefined) return known
  const { pattern, format, properties, rest, items } = structure
  const names = Object.keys(properties ?? {})
  const node: Node = {
    structure,
    types: [structure.type ?? []].flat().reduce((bits, name) => bits | BITS[name], 0),
    pattern: pattern === undefined ? undefined : re2(pattern),
    format: format === undefined ? undefined : formats[format],
    fields: [],
    places: new Map(names.map((name, index) => [name, index])),
    rest: rest === true || properties === undefined,
    items: undefined,
    alternatives: undefined,
  }
  // Before its children: a structure may hold itself.
  nodes.set(structure, node)
  for (const child of Object.values(properties ?? {})) node.fields.push(nodeOf(child))
  if (typeof rest === 'object') node.rest = nodeOf(rest)
  if (items !== undefined) node.items = nodeOf(typeof items === 'function' ? items() : items)
  node.alternatives = alternativesOf(structure)
  return node
}

function alternativesOf({ not, anyOf, oneOf }: Structure): Alternatives | undefined {
  if (not === undefined && anyOf === undefined && oneOf === undefined) return undefined
  return { not: not && nodeOf(not), anyOf: anyOf?.map(nodeOf), oneOf: oneOf?.map(nodeOf) }
}

function check(node: Node, value: unknown, walk: Walk): void {
  const { structure, types, alternatives } = node
  const bits = bitsOf(value)
  if (types !== 0 && (types & bits) === 0) report(walk, 'type', { type: structure.type })
  if ((bits & NUMBER) !== 0) checkNumber(structure, value as number, walk) // by its bits
  if (bits === STRING) checkText(node, value as string, walk) // by its bits
  const { enum: allowed } = structure
  if (allowed !== undefined && !allowed.includes(value as string)) report(walk, 'enum', { allowedValues: allowed })
  if (alternatives !== undefined) checkAlternatives(alternatives, value, walk)
  if (bits === ARRAY) checkList(node, value as readonly unknown[], walk) // by its bits
  else if (bits === OBJECT) checkRecord(node, value as Readonly<Record<string, unknown>>, walk) // by its bits
}

/** None for a value that JSON does not have. */
function bitsOf(value: unknown): number {
  if (typeof value === 'string') return STRING
  if (typeof value === 'number') return Number.isInteger(value) ? NUMBER | INTEGER : Number.isFinite(value) ? NUMBER : 0
  if (typeof value === 'boolean') return BOOLEAN
  if (typeof value !== 'object') return 0
  return value === null ? NULL : Array.isArray(value) ? ARRAY : OBJECT
}

function checkNumber({ maximum, minimum }: Structure, value: number, walk: Walk): void {
  if (maximum !== undefined && value > maximum) report(walk, 'maximum', { comparison: '<=', limit: maximum })
  if (minimum !== undefined && value < minimum) report(walk, 'minimum', { comparison: '>=', limit: minimum })
}

function checkText({ structure, pattern, format }: Node, text: string, walk: Walk): void {
  const { maxLength, minLength } = structure
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) {
    report(walk, 'maxLength', { limit: maxLength })
  }
  // A code point has one or two units.
  if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength) {
    report(walk, 'minLength', { limit: minLength })
  }
  if (pattern !== undefined && !pattern.test(text)) report(walk, 'pattern', { pattern: structure.pattern })
  if (format !== undefined && !format(text)) report(walk, 'format', { format: structure.format })
}

function checkAlternatives({ not, anyOf, oneOf }: Alternatives, value: unknown, walk: Walk): void {
  if (not !== undefined && fits(not, value)) report(walk, 'not', {})
  if (anyOf !== undefined && !anyOf.some((node) => fits(node, value))) report(walk, 'anyOf', {})
  if (oneOf !== undefined && oneOf.filter((node) => fits(node, value)).length !== 1) report(walk, 'oneOf', {})
}

function fits(node: Node, value: unknown): boolean {
  const walk: Walk = { errors: [], keys: [] }
  check(node, value, walk)
  return walk.errors.length === 0
}

function checkList({ structure, items }: Node, list: readonly unknown[], walk: Walk): void {
  const { maxItems, minItems } = structure
  if (maxItems !== undefined && list.length > maxItems) report(walk, 'maxItems', { limit: maxItems })
  if (minItems !== undefined && list.length < minItems) report(walk, 'minItems', { limit: minItems })
  if (items === undefined) return
  for (let index = 0; index < list.length; index += 1) {
    walk.keys.push(index)
    check(items, list[index], walk)
    walk.keys.pop()
  }
}

function checkRecord(node: Node, record: Readonly<Record<string, unknown>>, walk: Walk): void {
  const { structure } = node
  const present = Object.keys(record)
  checkCount(structure, present.length, walk)
  for (const name of structure.required ?? NOTHING) {
    if (record[name] === undefined) report(walk, 'required', { missingProperty: name })
  }
  const found = walk.errors.length
  const wrong: WrongField[] = []
  for (const name of present) {
    const start = walk.errors.length
    checkField(node, name, record[name], walk)
    if (walk.errors.length > start) wrong.push({ place: node.places.get(name) ?? -1, start, end: walk.errors.length })
  }
  if (wrong.length > 1) sortErrors(walk.errors, found, wrong)
}

interface WrongField {
  /** In the structure; -1 for a field that it does not name. */
  readonly place: number
  /** Its part of the errors. */
  readonly start: number
  readonly end: number
}

/** From `found` on: first those of fields that the structure does not name, then the others as it lists the fields. */
function sortErrors(errors: StructureError[], found: number, wrong: readonly WrongField[]): void {
  const unsorted = errors.splice(found)
  for (const { start, end } of wrong.toSorted((one, other) => one.place - other.place)) {
    for (let index = start; index < end; index += 1) {
      const error = unsorted[index - found]
      if (error !== undefined) errors.push(error)
    }
  }
}

function checkField({ places, fields, rest }: Node, name: string, value: unknown, walk: Walk): void {
  const place = places.get(name)
  const field = place === undefined ? rest : fields[place]
  if (typeof field === 'object') {
    if (value === undefined && place !== undefined) return
    walk.keys.push(name)
    check(field, value, walk)
    walk.keys.pop()
  } else if (field === false) report(walk, 'additionalProperties', { additionalProperty: name })
}

const NOTHING: readonly string[] = []

function checkCount({ maxProperties, minProperties }: Structure, count: number, walk: Walk): void {
  if (maxProperties !== undefined && count > maxProperties) report(walk, 'maxProperties', { limit: maxProperties })
  if (minProperties !== undefined && count < minProperties) report(walk, 'minProperties', { limit: minProperties })
}

function report({ errors, keys }: Walk, keyword: StructureError['keyword'], params: StructureError['params']): void {
  const tokens = keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
  errors.push({ instancePath: tokens.join(''), keyword, params })
}
