// Schemas of Google, a subset of OpenAPI, as JSON Schema. JSON Schema in these fields stays as it is.
import { isRecord } from '#api/json.ts'
import { asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { defined } from '../fields.ts'
import { fieldsOf } from './names.ts'

const DEPTH_MAX = 64

/** Whole numbers of 64 bits are texts in the JSON of Google. */
const WHOLE_NUMBERS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'] as const

/** Fields with another meaning, or none, in JSON Schema. */
const REPLACED: ReadonlySet<string> = new Set(['type', 'nullable', 'example', 'propertyOrdering', ...WHOLE_NUMBERS])

/** @param at: path of the schema in the request of the client. @throws {Untranslatable} */
export function jsonSchema(schema: JsonObject, at: string, depth = 0): JsonObject {
  if (depth > DEPTH_MAX) throw new Untranslatable(`${at} is too deep`)
  const fields = fieldsOf(schema)
  const below = (one: unknown): unknown => (isRecord(one) ? jsonSchema(one, at, depth + 1) : one)
  const { items, properties, anyOf, example, enum: choices } = fields
  // A choice must have null too.
  const withNull = (list: readonly unknown[], none: unknown) => (fields['nullable'] === true ? [...list, none] : list)
  const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => !REPLACED.has(name)))
  return defined({
    ...typeOf(fields),
    ...kept,
    ...Object.fromEntries(WHOLE_NUMBERS.map((name) => [name, wholeNumber(fields[name])])),
    examples: example === undefined ? undefined : [example],
    ...(Array.isArray(choices) && { enum: withNull(choices, null) }),
    items: items === undefined ? undefined : below(items),
    // Names of properties are of the user.
    properties: isRecord(properties)
      ? Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, below(one)]))
      : undefined,
    ...(Array.isArray(anyOf) && { anyOf: withNull(anyOf, { type: 'null' }).map(below) }),
  })
}

function typeOf({ type, nullable: isNullable }: JsonObject): JsonObject {
  const name = asString(type)?.toLowerCase()
  if (name === undefined) return type === undefined ? {} : { type }
  if (name === 'type_unspecified') return {}
  return { type: isNullable === true && name !== 'null' ? [name, 'null'] : name }
}

function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
