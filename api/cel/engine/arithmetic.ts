// The arithmetic operators. Integers are 64 bit and overflow is an error, as the language defines.
import { CelDuration, DURATION_NANOS_MAX } from '../values/duration.ts'
import { CelTimestamp, TIMESTAMP_NANOS_MAX, TIMESTAMP_NANOS_MIN } from '../values/timestamp.ts'
import { CelUint, UINT_MAX } from '../values/uint.ts'
import { celError } from './errors.ts'
import { checkElements, checkLength, type Frame } from './frame.ts'
import { normalised, textOf, typeName } from './types.ts'

export const INT_MAX = 9_223_372_036_854_775_807n
export const INT_MIN = -9_223_372_036_854_775_808n

export function checkedInt(value: bigint): bigint {
  if (value > INT_MAX || value < INT_MIN) throw celError('integer overflow')
  return value
}

export function checkedUint(value: bigint): CelUint {
  if (value > UINT_MAX || value < 0n) throw celError('unsigned integer overflow')
  return new CelUint(value)
}

function checkedDuration(nanos: bigint): CelDuration {
  if (nanos > DURATION_NANOS_MAX || nanos < -DURATION_NANOS_MAX) throw celError('duration out of range')
  return new CelDuration(nanos)
}

export function checkedTimestamp(nanos: bigint): CelTimestamp {
  if (nanos > TIMESTAMP_NANOS_MAX || nanos < TIMESTAMP_NANOS_MIN) throw celError('timestamp out of range')
  return new CelTimestamp(nanos)
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'

export function arithmetic(operator: ArithmeticOperator, a: unknown, b: unknown, frame: Frame): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(INTEGERS[operator](a, b))
  if (typeof a === 'number' && typeof b === 'number' && operator !== '%') return DOUBLES[operator](a, b)
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(INTEGERS[operator](a.value, b.value))
  if (operator === '+') return add(a, b, frame)
  if (operator === '-') return subtract(normalised(a), normalised(b))
  throw noOverload(operator, a, b)
}

export function negate(value: unknown): unknown {
  if (typeof value === 'number') return -value
  if (typeof value === 'bigint') return checkedInt(-value)
  throw celError(`no such overload: -${typeName(value)}`)
}

const INTEGERS = {
  '+': (a: bigint, b: bigint) => a + b,
  '-': (a: bigint, b: bigint) => a - b,
  '*': (a: bigint, b: bigint) => a * b,
  '/': (a: bigint, b: bigint) => {
    if (b === 0n) throw celError('division by zero')
    return a / b
  },
  '%': (a: bigint, b: bigint) => {
    if (b === 0n) throw celError('modulus by zero')
    return a % b
  },
} as const

const DOUBLES = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
} as const

function add(a: unknown, b: unknown, frame: Frame): unknown {
  const left = textOf(a)
  const right = textOf(b)
  if (left !== undefined && right !== undefined) {
    checkLength(left.length + right.length)
    frame.charge((left.length + right.length) >>> 6)
    return left + right
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    checkElements(a.length + b.length)
    frame.charge(a.length + b.length)
    return [...a, ...b]
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    checkLength(a.length + b.length)
    frame.charge((a.length + b.length) >>> 6)
    return new Uint8Array(Buffer.concat([a, b]))
  }
  return addTimes(normalised(a), normalised(b))
}

function addTimes(a: unknown, b: unknown): unknown {
  if (a instanceof CelDuration) {
    if (b instanceof CelDuration) return checkedDuration(a.nanos + b.nanos)
    if (b instanceof CelTimestamp) return checkedTimestamp(a.nanos + b.nanos)
  }
  if (a instanceof CelTimestamp && b instanceof CelDuration) return checkedTimestamp(a.nanos + b.nanos)
  throw noOverload('+', a, b)
}

function subtract(a: unknown, b: unknown): unknown {
  if (a instanceof CelDuration && b instanceof CelDuration) return checkedDuration(a.nanos - b.nanos)
  if (a instanceof CelTimestamp) {
    if (b instanceof CelTimestamp) return checkedDuration(a.nanos - b.nanos)
    if (b instanceof CelDuration) return checkedTimestamp(a.nanos - b.nanos)
  }
  throw noOverload('-', a, b)
}

function noOverload(operator: string, a: unknown, b: unknown): Error {
  return celError(`no such overload: ${typeName(a)} ${operator} ${typeName(b)}`)
}
