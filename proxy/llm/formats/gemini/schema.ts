// JSON Schema in the form of Google, a subset of OpenAPI: references are replaced by what they name, and keywords that
// the vendor rejects are removed, so that the model may write more than the schema allows, but never less.
import { isRecord } from '#api/json.ts'
import { asArray, asNumber, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { defined } from '../fields.ts'

/**
 * What all schemas of a request may have: keywords, required names and choices, in all places to which references bring
 * them, as they multiply.
 */
export class SchemaBudget {
  #left = 100_000

  /** Whether that much was left. */
  spend(size: number): boolean {
    this.#left -= size
    return this.#left >= 0
  }
}

const DEPTH_MAX = 64

const KEPT = [
  'title',
  'description',
  'default',
  'example',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'propertyOrdering',
]
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['date-time', 'enum'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}

/** @param at: path of the schema in the request of the client. @throws {Untranslatable} */
export function googleSchema(schema: JsonObject, at: string, budget: SchemaBudget): JsonObject {
  return new Normalizer(schema, at, budget).node(schema, { within: [], depth: 0 })
}

/** `within`: the references that led here. */
interface Place {
  readonly within: readonly string[]
  readonly depth: number
}

/** A schema without references and `allOf` on its first level. */
interface Flat {
  readonly schema: JsonObject
  readonly within: readonly string[]
}

class Normalizer {
  readonly #root: JsonObject
  readonly #at: string
  readonly #budget: SchemaBudget

  constructor(root: JsonObject, at: string, budget: SchemaBudget) {
    this.#root = root
    this.#at = at
    this.#budget = budget
  }

  node(value: unknown, { within: before, depth }: Place): JsonObject {
    // `true` allows everything.
    if (!isRecord(value)) return {}
    const { schema, within } = this.#flat(value, { within: before, depth })
    const below = (one: unknown): JsonObject => this.node(one, { within, depth: depth + 1 })
    const { types, isNullable } = typesOf(schema)
    const options = [...asArray(schema['anyOf']), ...asArray(schema['oneOf'])]
    const choices = options.filter((one) => !isNull(one))
    const nullable = isNullable || choices.length < options.length ? { nullable: true } : {}
    if (types.length > 1) {
      const { title, description } = schema
      return defined({ title, description, anyOf: types.map((type) => typed(schema, type, below)), ...nullable })
    }
    const fields = { ...typed(schema, types[0], below), ...nullable }
    // One option and null are the option itself.
    if (choices.length === 1) return { ...below(choices[0]), ...fields }
    return choices.length === 0 ? fields : { ...fields, anyOf: choices.map(below) }
  }

  /** Keywords beside a reference stay, such as a description. A schema within itself becomes any object. */
  #flat(value: JsonObject, { within, depth }: Place): Flat {
    const lists = asArray(value['required']).length + asArray(value['enum']).length
    if (!this.#budget.spend(Object.keys(value).length + 1 + lists) || depth > DEPTH_MAX) {
      throw new Untranslatable(`${this.#at} is too large with all its references, or too deep`)
    }
    const { $ref: ref, allOf, ...rest } = value
    if (typeof ref === 'string') {
      if (within.includes(ref)) return { schema: { type: 'object' }, within }
      const beside = allOf === undefined ? rest : { ...rest, allOf }
      return this.#flat({ ...this.#target(ref), ...beside }, { within: [...within, ref], depth: depth + 1 })
    }
    const parts = asArray(allOf)
      .filter(isRecord)
      .map((part) => this.#flat(part, { within, depth: depth + 1 }))
    return {
      schema: parts.map(({ schema }) => schema).reduce(both, rest),
      within: [...new Set([...within, ...parts.flatMap((part) => part.within)])],
    }
  }

  #target(ref: string): JsonObject {
    let found: unknown = ref.startsWith('#') ? this.#root : undefined
    const steps = ref.slice(1).split('/')
    for (const step of steps.filter((one) => one !== '')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
    }
    if (!isRecord(found)) throw new Untranslatable(`${this.#at} has a reference to a schema that it does not have`)
    return found
  }
}

function typed(schema: JsonObject, type: string | undefined, below: (one: unknown) => JsonObject): JsonObject {
  return defined({
    type,
    ...Object.fromEntries(KEPT.map((name) => [name, schema[name]])),
    format: (FORMATS[type ?? ''] ?? []).find((format) => format === schema['format']),
    enum: type === 'STRING' ? textsOf(enumOf(schema)) : undefined,
    ...(type === 'OBJECT' && objectFields(schema, below)),
    // Lists must have items.
    ...(type === 'ARRAY' && { items: isRecord(schema['items']) ? below(schema['items']) : { type: 'STRING' } }),
  })
}

function objectFields(schema: JsonObject, below: (one: unknown) => JsonObject): JsonObject {
  if (!isRecord(schema['properties'])) return {}
  const properties = Object.fromEntries(Object.entries(schema['properties']).map(([name, one]) => [name, below(one)]))
  const required = asArray(schema['required']).filter(
    (name) => typeof name === 'string' && Object.hasOwn(properties, name),
  )
  return defined({ properties, required: required.length > 0 ? required : undefined })
}

/** Only texts may be listed. */
function textsOf(values: readonly unknown[] | undefined): readonly unknown[] | undefined {
  return values?.every((one) => typeof one === 'string') === true ? values : undefined
}

/** What both require. */
function both(a: JsonObject, b: JsonObject): JsonObject {
  const properties =
    isRecord(a['properties']) && isRecord(b['properties']) ? { ...b['properties'], ...a['properties'] } : undefined
  const required = [...new Set([...asArray(a['required']), ...asArray(b['required'])])]
  return { ...b, ...a, ...(properties && { properties }), ...(required.length > 0 && { required }) }
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && (schema['type'] === 'null' || schema['const'] === null)
}

function enumOf(schema: JsonObject): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'].filter((one) => one !== null) : undefined
}

function typesOf(schema: JsonObject): { readonly types: readonly string[]; readonly isNullable: boolean } {
  const { type } = schema
  const given = (Array.isArray(type) ? type : [type]).flatMap((one) => asString(one)?.toLowerCase() ?? [])
  const isNullable = given.includes('null') || schema['nullable'] === true || asArray(schema['enum']).includes(null)
  const types = given.filter((one) => one !== 'null').map((one) => one.toUpperCase())
  return { types: types.length === 0 ? derivedType(schema) : types, isNullable }
}

/** The vendor demands a type. */
function derivedType(schema: JsonObject): readonly string[] {
  if (isRecord(schema['properties'])) return ['OBJECT']
  if (Object.hasOwn(schema, 'items')) return ['ARRAY']
  const first = enumOf(schema)?.[0]
  if (typeof first === 'string') return ['STRING']
  if (typeof first === 'boolean') return ['BOOLEAN']
  return asNumber(first) === undefined ? [] : ['NUMBER']
}
