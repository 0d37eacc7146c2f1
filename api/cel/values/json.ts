// JSON and CEL values: how text becomes values, and which text a value becomes.
import { JsonTooComplex, parseBoundedJson } from '../../bounded-json.ts'
import { elementOrMissing, keysOf } from '../engine/access.ts'
import { celError } from '../engine/errors.ts'
import { checkLength, VALUE_LENGTH_MAX } from '../engine/frame.ts'
import { chargeCurrent } from '../engine/meter.ts'
import { isMap, normalised, textOf, typeName } from '../engine/types.ts'
import { CelDuration } from './duration.ts'
import { CelCidr, CelIp } from './ip.ts'
import { CelTimestamp } from './timestamp.ts'
import { CelUint } from './uint.ts'

/** Nesting of values that are read or written. */
const JSON_DEPTH_MAX = 250

/** The cost of a parsed value: for each object and array, each member and each element. */
const CONTAINER_STEPS = 3
const MEMBER_STEPS = 4
/** Of `fromJson` since it was set to 0. */
let stepsOfValues = 0

/**
 * The value of JSON text: whole numbers that a double holds exactly become int, other numbers double.
 * @throws {CelError} without the text in its message.
 */
export function parseJson(text: string): unknown {
  let parsed: unknown
  try {
    parsed = parseBoundedJson(text)
  } catch (error) {
    throw celError(error instanceof JsonTooComplex ? error.message : 'not valid JSON')
  }
  stepsOfValues = 0
  const value = fromJson(parsed)
  chargeCurrent(stepsOfValues)
  return value
}

/** Turns the result of JSON.parse into CEL values. Changes containers in place: the caller must not keep them. */
export function fromJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (depth > JSON_DEPTH_MAX) throw celError('JSON is nested too deeply')
  if (!Array.isArray(value)) return membersFromJson(value, depth)
  stepsOfValues += CONTAINER_STEPS + value.length
  for (let i = 0; i < value.length; i++) value[i] = fromJson(value[i], depth + 1)
  return value
}

function membersFromJson(value: object, depth: number): object {
  // JSON.parse creates only own data properties: assigning to an existing one never calls a setter (`__proto__`).
  const record = value as Record<string, unknown>
  const keys = Object.keys(record)
  stepsOfValues += CONTAINER_STEPS + keys.length * MEMBER_STEPS
  for (const key of keys) {
    const member = record[key]
    if (typeof member === 'number' || typeof member === 'object') record[key] = fromJson(member, depth + 1)
  }
  return record
}

/**
 * The JSON text of a value. Bytes are base64, times and durations their usual text, a NaN or infinity null.
 * @throws {CelError} for values JSON cannot hold.
 */
export function jsonText(value: unknown): string {
  const out: Writer = { parts: [], length: 0 }
  write(value, out, 0)
  return out.parts.join('')
}

interface Writer {
  readonly parts: string[]
  length: number
}

function put(out: Writer, text: string): void {
  out.length += text.length
  if (out.length > VALUE_LENGTH_MAX) checkLength(out.length)
  out.parts.push(text)
}

function write(value: unknown, out: Writer, depth: number): void {
  if (depth > JSON_DEPTH_MAX) throw celError('value is nested too deeply')
  const given = normalised(value)
  const scalar = scalarText(given)
  if (scalar !== undefined) put(out, scalar)
  else if (Array.isArray(given)) writeList(given, out, depth)
  else if (isMap(given)) writeMap(given, out, depth)
  else throw celError(`no JSON form for ${typeName(given)}`)
}

function scalarText(value: unknown): string | undefined {
  const text = textOf(value)
  if (text !== undefined) return JSON.stringify(text)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value)
  if (value instanceof CelUint) return value.value.toString()
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'))
  return hasTextForm(value) ? JSON.stringify(value.toString()) : undefined
}

function hasTextForm(value: unknown): value is CelDuration | CelTimestamp | CelIp | CelCidr {
  return (
    value instanceof CelDuration || value instanceof CelTimestamp || value instanceof CelIp || value instanceof CelCidr
  )
}

function writeList(list: readonly unknown[], out: Writer, depth: number): void {
  put(out, '[')
  for (let i = 0; i < list.length; i++) {
    if (i > 0) put(out, ',')
    write(list[i], out, depth + 1)
  }
  put(out, ']')
}

function writeMap(map: unknown, out: Writer, depth: number): void {
  put(out, '{')
  let isFirst = true
  for (const key of keysOf(map)) {
    const member = elementOrMissing(map, key)
    if (member === undefined) continue
    put(out, `${isFirst ? '' : ','}${JSON.stringify(String(key))}:`)
    write(member, out, depth + 1)
    isFirst = false
  }
  put(out, '}')
}
