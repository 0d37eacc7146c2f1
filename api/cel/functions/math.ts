// Functions on numbers: the maths extension, and `max`/`min`.
import { INT_MIN } from '../engine/arithmetic.ts'
import { compare, numeric } from '../engine/equality.ts'
import { celError } from '../engine/errors.ts'
import { type CelFunction, global, intArg, noOverload, variadic } from '../engine/function-table.ts'
import { CelUint, UINT_MAX } from '../values/uint.ts'

/** The extreme of all arguments, or of one list. The first of equals wins. */
function extreme(name: string, isBetter: (order: number) => boolean): CelFunction {
  return variadic(name, 1, (args) => {
    const [first] = args
    const candidates: readonly unknown[] = args.length === 1 && Array.isArray(first) ? first : args
    if (candidates.length === 0) throw celError(`${name}() of an empty list`)
    let best = candidates[0]
    for (const candidate of candidates) {
      if (numeric(candidate) === undefined) throw noOverload(name, candidate)
      if (isBetter(compare(candidate, best))) best = candidate
    }
    return best
  })
}

function doubleFunction(name: string, apply: (value: number) => unknown): CelFunction {
  return global(name, 1, (value) => {
    if (typeof value !== 'number') throw noOverload(name, value)
    return apply(value)
  })
}

/** Halves away from zero, as the extension has it. */
function round(value: number): number {
  if (!Number.isFinite(value)) return value
  const whole = Math.trunc(value)
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
}

function abs(value: unknown): unknown {
  if (typeof value === 'number') return Math.abs(value)
  if (value instanceof CelUint) return value
  const given = intArg(value, 'math.abs')
  if (given === INT_MIN) throw celError('integer overflow')
  return given < 0n ? -given : given
}

function sign(value: unknown): unknown {
  if (typeof value === 'number') return Math.sign(value)
  if (value instanceof CelUint) return new CelUint(value.value === 0n ? 0n : 1n)
  const given = intArg(value, 'math.sign')
  if (given === 0n) return 0n
  return given < 0n ? -1n : 1n
}

function sqrt(value: unknown): number {
  const given = numeric(value)
  if (given === undefined) throw noOverload('math.sqrt', value)
  return Math.sqrt(Number(given))
}

function bitwise(name: string, apply: (a: bigint, b: bigint) => bigint): CelFunction {
  return global(name, 2, (a, b) => {
    if (a instanceof CelUint && b instanceof CelUint) return new CelUint(apply(a.value, b.value))
    if (typeof a !== 'bigint' || typeof b !== 'bigint') throw noOverload(name, a, b)
    return BigInt.asIntN(64, apply(a, b))
  })
}

function bitNot(value: unknown): unknown {
  if (value instanceof CelUint) return new CelUint(UINT_MAX ^ value.value)
  return ~intArg(value, 'math.bitNot')
}

/** Shifts over 64 bits; a right shift of an int fills with zeros. */
function shift(name: string, apply: (bits: bigint, by: bigint) => bigint): CelFunction {
  return global(name, 2, (value, offset) => {
    const by = intArg(offset, name)
    if (by < 0n) throw celError(`${name}(): negative offset`)
    const bits = value instanceof CelUint ? value.value : BigInt.asUintN(64, intArg(value, name))
    const shifted = by >= 64n ? 0n : BigInt.asUintN(64, apply(bits, by))
    return value instanceof CelUint ? new CelUint(shifted) : BigInt.asIntN(64, shifted)
  })
}

export const MATH_FUNCTIONS: readonly CelFunction[] = [
  extreme('math.greatest', (order) => order > 0),
  extreme('math.least', (order) => order < 0),
  extreme('max', (order) => order > 0),
  extreme('min', (order) => order < 0),
  doubleFunction('math.ceil', Math.ceil),
  doubleFunction('math.floor', Math.floor),
  doubleFunction('math.round', round),
  doubleFunction('math.trunc', Math.trunc),
  doubleFunction('math.isInf', (value) => !Number.isFinite(value) && !Number.isNaN(value)),
  doubleFunction('math.isNaN', Number.isNaN),
  doubleFunction('math.isFinite', Number.isFinite),
  global('math.abs', 1, abs),
  global('math.sign', 1, sign),
  global('math.sqrt', 1, sqrt),
  bitwise('math.bitAnd', (a, b) => a & b),
  bitwise('math.bitOr', (a, b) => a | b),
  bitwise('math.bitXor', (a, b) => a ^ b),
  global('math.bitNot', 1, bitNot),
  shift('math.bitShiftLeft', (bits, by) => bits << by),
  shift('math.bitShiftRight', (bits, by) => bits >> by),
]
