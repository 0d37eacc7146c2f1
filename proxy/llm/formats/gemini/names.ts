// Names of fields in requests: Google accepts `inlineData` and `inline_data`.
import { isRecord } from '#api/json.ts'
import { asObject, type JsonObject } from '../../json.ts'

const UNDERSCORE = /(?<=[a-z0-9])_([a-z0-9])/g

/** The fields of an object of the format, with the names of the documentation. Not for values of users. */
export function fieldsOf(value: unknown): JsonObject {
  const object = asObject(value)
  if (!Object.keys(object).some((name) => name.includes('_'))) return object
  return Object.fromEntries(Object.entries(object).map(([name, one]) => [camel(name), one]))
}

function camel(name: string): string {
  return name.replace(UNDERSCORE, (_, letter: string) => letter.toUpperCase())
}

/** Google accepts one object in place of a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isRecord(value) ? [value] : []
}
