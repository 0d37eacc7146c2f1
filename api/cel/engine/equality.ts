// Equality and order over all values. Numbers compare across their types; other types never equal each other.
import { CelDuration } from '../values/duration.ts'
import { CelCidr, CelIp } from '../values/ip.ts'
import { CelOptional } from '../values/optional.ts'
import { CelTimestamp } from '../values/timestamp.ts'
import { CelType } from '../values/type-value.ts'
import { CelUint } from '../values/uint.ts'
import { elementOrMissing, keysOf } from './access.ts'
import { celError } from './errors.ts'
import type { Frame } from './frame.ts'
import { isMap, normalised, textOf, typeName } from './types.ts'

export function isEqual(a: unknown, b: unknown, frame: Frame): boolean {
  if (a === b) return true
  if (typeof a === 'string') return typeof b === 'object' && textOf(b) === a
  if (typeof a === 'number' || typeof a === 'bigint') return isEqualNumber(a, b)
  if (typeof a === 'object') return a !== null && isEqualObject(normalised(a), normalised(b), frame)
  return false
}

function isEqualNumber(a: number | bigint, b: unknown): boolean {
  const other = numeric(b)
  // Loose equality is the exact comparison of a bigint and a double.
  // eslint-disable-next-line eqeqeq
  return other !== undefined && a == other
}

/** A number of any type in a form that JavaScript compares exactly with any other. */
export function numeric(value: unknown): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof CelUint ? value.value : undefined
}

function isEqualObject(a: unknown, b: unknown, frame: Frame): boolean {
  const text = textOf(a)
  if (text !== undefined) return text === textOf(b)
  if (a instanceof CelUint) return isEqualNumber(a.value, b)
  if (typeof b !== 'object' || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && isEqualList(a, b, frame)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && isEqualBytes(a, b)
  const scalar = isEqualScalar(a, b, frame)
  if (scalar !== undefined) return scalar
  return isMap(a) && isMap(b) && isEqualMap(a, b, frame)
}

/** Values of one of the engine's classes; undefined when `a` has another class. */
function isEqualScalar(a: unknown, b: object, frame: Frame): boolean | undefined {
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name
  if (a instanceof CelIp) return b instanceof CelIp && isEqualIp(a, b)
  if (a instanceof CelCidr) return b instanceof CelCidr && isEqualCidr(a, b)
  return a instanceof CelOptional ? isEqualOptional(a, b, frame) : undefined
}

function isEqualCidr(a: CelCidr, b: CelCidr): boolean {
  return a.prefixLength === b.prefixLength && isEqualIp(a.ip, b.ip)
}

function isEqualIp(a: CelIp, b: CelIp): boolean {
  return a.family === b.family && a.bits === b.bits
}

function isEqualOptional(a: CelOptional, b: object, frame: Frame): boolean {
  if (!(b instanceof CelOptional) || a.isPresent !== b.isPresent) return false
  return !a.isPresent || isEqual(a.value, b.value, frame)
}

function isEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function isEqualList(a: readonly unknown[], b: readonly unknown[], frame: Frame): boolean {
  if (a.length !== b.length) return false
  frame.charge(a.length)
  for (let i = 0; i < a.length; i++) if (!isEqual(a[i], b[i], frame)) return false
  return true
}

function isEqualMap(a: unknown, b: unknown, frame: Frame): boolean {
  const keys = keysOf(a)
  if (keys.length !== keysOf(b).length) return false
  frame.charge(keys.length)
  for (const key of keys) {
    const other = elementOrMissing(b, key)
    if (other === undefined || !isEqual(elementOrMissing(a, key), other, frame)) return false
  }
  return true
}

/** Negative, zero or positive; NaN when one side is NaN. @throws {CelError} for types without an order. */
export function compare(a: unknown, b: unknown): number {
  const left = numeric(a)
  const right = numeric(b)
  if (left !== undefined && right !== undefined) return compareMixed(left, right)
  const leftText = textOf(a)
  const rightText = textOf(b)
  if (leftText !== undefined && rightText !== undefined) return compareText(leftText, rightText)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return compareObjects(normalised(a), normalised(b))
}

/** An int beside a double is compared as a double, as the language has it. */
function compareMixed(a: number | bigint, b: number | bigint): number {
  return typeof a === typeof b ? compareNumbers(a, b) : compareNumbers(Number(a), Number(b))
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1
  if (a > b) return 1
  // eslint-disable-next-line eqeqeq
  return a == b ? 0 : Number.NaN
}

/** By code point, not by UTF-16 unit: they differ above U+FFFF. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!/[\ud800-\udfff]/.test(a) && !/[\ud800-\udfff]/.test(b)) return a < b ? -1 : 1
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function compareObjects(a: unknown, b: unknown): number {
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return compareNumbers(a.nanos, b.nanos)
  if (a instanceof CelDuration && b instanceof CelDuration) return compareNumbers(a.nanos, b.nanos)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  throw celError(`no such overload: comparison of ${typeName(a)} and ${typeName(b)}`)
}

/** `value in container` */
export function isMember(value: unknown, container: unknown, frame: Frame): boolean {
  if (Array.isArray(container)) {
    frame.charge(container.length >>> 3)
    for (const candidate of container) if (isEqual(value, candidate, frame)) return true
    return false
  }
  if (!isMap(container)) throw celError(`no such overload: in ${typeName(container)}`)
  return elementOrMissing(container, value) !== undefined
}
