// Variables of expressions that a caller gives as JSON, with the types that they have in policies. Pure.
import { HeaderView } from '#api/cel/values/header-view.ts'
import { fromJson } from '#api/cel/values/json.ts'
import { QueryString } from '#api/cel/values/query-string.ts'
import { CelTimestamp } from '#api/cel/values/timestamp.ts'
import { isRecord, type JsonRecord } from '#api/json.ts'

/** @throws {CelError} They are nested too deeply. */
export function givenVariables(given: JsonRecord): JsonRecord {
  const message = (name: string): object => {
    const fields = given[name]
    return isRecord(fields) ? { [name]: messageOf(fields) } : {}
  }
  return { ...membersOf(given), ...message('request'), ...message('response') }
}

function messageOf(fields: JsonRecord): JsonRecord {
  const { headers, uri, startTime, endTime } = fields
  return {
    ...membersOf(fields),
    ...(isRecord(headers) && { headers: new HeaderView({ fields: fieldsOf(headers) }) }),
    ...(typeof uri === 'string' && { uri: new QueryString(uri) }),
    ...timeOf('startTime', startTime),
    ...timeOf('endTime', endTime),
  }
}

function timeOf(name: string, text: unknown): object {
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? {} : { [name]: CelTimestamp.fromMs(ms) }
}

/** Names in lower case and values in turn; several values of one name are a list. */
function fieldsOf(headers: JsonRecord): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
      typeof one === 'string' ? [name.toLowerCase(), one] : [],
    ),
  )
}

function membersOf(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fromJson(structuredClone(value))]))
}
