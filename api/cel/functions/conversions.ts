// Conversions between types, `type()`, `dyn()` and `size()`.
import { keysOf } from '../engine/access.ts'
import { checkedInt, checkedUint, INT_MAX, INT_MIN } from '../engine/arithmetic.ts'
import { celError } from '../engine/errors.ts'
import type { Frame } from '../engine/frame.ts'
import { type CelFunction, global, method, noOverload } from '../engine/function-table.ts'
import { typeConstant } from '../engine/names.ts'
import { isMap, normalised, textOf, typeName } from '../engine/types.ts'
import { CelDuration, parseCelDuration } from '../values/duration.ts'
import { CelCidr, CelIp } from '../values/ip.ts'
import { CelTimestamp, parseCelTimestamp } from '../values/timestamp.ts'
import { CelUint, UINT_MAX } from '../values/uint.ts'
import { checkedTimestamp } from '../engine/arithmetic.ts'
import { NANOS_PER_SECOND } from '../values/duration.ts'
import { codePointCount } from './strings.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws {CelError} when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw celError('bytes are not valid UTF-8')
  }
}

function toBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = textOf(value)
  if (text === undefined) throw noOverload('bool', value)
  if (['true', 'True', 'TRUE', 't', '1'].includes(text)) return true
  if (['false', 'False', 'FALSE', 'f', '0'].includes(text)) return false
  throw celError('bool(): not a boolean')
}

function toInt(value: unknown): bigint {
  const given = normalised(value)
  if (typeof given === 'bigint') return given
  if (given instanceof CelUint) return checkedInt(given.value)
  if (typeof given === 'number') {
    // The bounds themselves are not exact doubles: only what is strictly inside converts (language definition).
    if (!(given > Number(INT_MIN) && given < Number(INT_MAX))) throw celError('int(): out of range')
    return BigInt(Math.trunc(given))
  }
  if (given instanceof CelTimestamp) return BigInt(Math.floor(given.epochMs() / 1000))
  if (given instanceof CelDuration) return given.nanos / NANOS_PER_SECOND
  const text = textOf(given)
  if (text === undefined) throw noOverload('int', value)
  if (!/^[+-]?\d{1,30}$/.test(text)) throw celError('int(): not an integer')
  return checkedInt(BigInt(text.startsWith('+') ? text.slice(1) : text))
}

function toUint(value: unknown): CelUint {
  if (value instanceof CelUint) return value
  if (typeof value === 'bigint') return checkedUint(value)
  if (typeof value === 'number') {
    if (!(value >= 0 && value < Number(UINT_MAX))) throw celError('uint(): out of range')
    return new CelUint(BigInt(Math.trunc(value)))
  }
  const text = textOf(value)
  if (text === undefined) throw noOverload('uint', value)
  if (!/^\+?\d{1,30}$/.test(text)) throw celError('uint(): not an unsigned integer')
  return checkedUint(BigInt(text.startsWith('+') ? text.slice(1) : text))
}

const DOUBLE = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function toDouble(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  const text = textOf(value)
  if (text === undefined) throw noOverload('double', value)
  if (DOUBLE.test(text)) return Number(text)
  const special = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(text)
  if (special === null) throw celError('double(): not a number')
  if (special[2] === undefined) return Number.NaN
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

function formatDouble(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return Object.is(value, -0) ? '-0' : String(value)
}

/** `string(x)`; undefined for types that have no string form. */
export function stringForm(value: unknown): string | undefined {
  const given = normalised(value)
  const text = textOf(given)
  if (text !== undefined) return text
  if (typeof given === 'number') return formatDouble(given)
  if (typeof given === 'bigint' || typeof given === 'boolean') return String(given)
  if (given instanceof CelUint) return given.value.toString()
  if (given instanceof Uint8Array) return decodeUtf8(given)
  if (given instanceof CelDuration || given instanceof CelTimestamp) return given.toString()
  return given instanceof CelIp || given instanceof CelCidr ? given.toString() : undefined
}

function toText(value: unknown): string {
  const text = stringForm(value)
  if (text === undefined) throw noOverload('string', value)
  return text
}

function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  const text = textOf(value)
  if (text === undefined) throw noOverload('bytes', value)
  return new TextEncoder().encode(text)
}

function toDuration(value: unknown): CelDuration {
  if (value instanceof CelDuration) return value
  const text = textOf(value)
  if (text === undefined) throw noOverload('duration', value)
  const parsed = parseCelDuration(text)
  if (parsed === undefined) throw celError('duration(): not a duration such as 1h30m')
  return parsed
}

function toTimestamp(value: unknown): CelTimestamp {
  const given = normalised(value)
  if (given instanceof CelTimestamp) return given
  if (typeof given === 'bigint') return checkedTimestamp(given * NANOS_PER_SECOND)
  const text = textOf(given)
  if (text === undefined) throw noOverload('timestamp', value)
  const parsed = parseCelTimestamp(text)
  if (parsed === undefined) throw celError('timestamp(): not an RFC 3339 time')
  return parsed
}

function size(value: unknown, frame: Frame): bigint {
  const text = textOf(value)
  if (text !== undefined) return BigInt(codePointCount(text))
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length)
  if (value instanceof Map) return BigInt(value.size)
  if (!isMap(value)) throw noOverload('size', value)
  const count = keysOf(value).length
  frame.charge(count)
  return BigInt(count)
}

export const CONVERSION_FUNCTIONS: readonly CelFunction[] = [
  global('bool', 1, toBool),
  global('int', 1, toInt),
  global('uint', 1, toUint),
  global('double', 1, toDouble),
  global('string', 1, toText),
  global('bytes', 1, toBytes),
  global('duration', 1, toDuration),
  global('timestamp', 1, toTimestamp),
  global('dyn', 1, (value) => value),
  global('type', 1, (value) => typeConstant(typeName(value))),
  global('size', 1, (value, _b, _c, _d, frame) => size(value, frame)),
  method('size', 1, (value, _b, _c, _d, frame) => size(value, frame)),
]
