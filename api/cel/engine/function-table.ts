// What a built-in function is, and the table in which the compiler finds it. The functions themselves: ../functions/.
import { celError } from './errors.ts'
import type { Frame } from './frame.ts'
import { textOf, typeName } from './types.ts'

/** Up to four arguments (the receiver of a method is the first); the frame for charging work. */
export type FixedCall = (a: unknown, b: unknown, c: unknown, d: unknown, frame: Frame) => unknown

export type VariadicCall = (args: readonly unknown[], frame: Frame) => unknown

export interface CelFunction {
  /** `size`, `math.greatest`. */
  readonly name: string
  readonly isMethod: boolean
  /** Bounds of the argument count, the receiver included. */
  readonly argsMin: number
  readonly argsMax: number
  /** Same arguments, same result: calls with constant arguments are computed once. */
  readonly isPure: boolean
  /** A constant call that fails is a mistake in the text, reported by the compiler. */
  readonly isStrict: boolean
  readonly call: FixedCall | { readonly variadic: VariadicCall }
  /**
   * Makes the call for a second argument that is constant, once. @throws {CelError} when the argument is invalid; the
   * compiler reports the error.
   */
  readonly prepare: ((argument: string) => FixedCall) | undefined
}

export type FunctionTable = ReadonlyMap<string, CelFunction>

/** Arguments of a fixed call; more are passed to a variadic one. */
export const FIXED_ARGS_MAX = 4

export interface FunctionOptions {
  readonly isPure?: boolean
  readonly isStrict?: boolean
  readonly prepare?: (argument: string) => FixedCall
}

type Arity = number | readonly [min: number, max: number]

function define(isMethod: boolean, name: string, arity: Arity, call: FixedCall, options: FunctionOptions): CelFunction {
  const [argsMin, argsMax] = typeof arity === 'number' ? [arity, arity] : arity
  return {
    name,
    isMethod,
    argsMin,
    argsMax,
    isPure: options.isPure ?? true,
    isStrict: options.isStrict ?? false,
    call,
    prepare: options.prepare,
  }
}

/** A function `name(a, …)`. */
export function global(name: string, arity: Arity, call: FixedCall, options: FunctionOptions = {}): CelFunction {
  return define(false, name, arity, call, options)
}

/** A function `a.name(b, …)`; the arity counts the receiver. */
export function method(name: string, arity: Arity, call: FixedCall, options: FunctionOptions = {}): CelFunction {
  return define(true, name, arity, call, options)
}

export function variadic(name: string, argsMin: number, call: VariadicCall): CelFunction {
  return {
    name,
    isMethod: false,
    argsMin,
    argsMax: 64,
    isPure: true,
    isStrict: false,
    call: { variadic: call },
    prepare: undefined,
  }
}

export function functionTable(...groups: readonly (readonly CelFunction[])[]): FunctionTable {
  const table = new Map<string, CelFunction>()
  for (const group of groups) {
    for (const entry of group) {
      const key = tableKey(entry.name, entry.isMethod)
      if (table.has(key)) throw new Error(`function ${key} is defined twice`)
      table.set(key, entry)
    }
  }
  return table
}

export function tableKey(name: string, isMethod: boolean): string {
  return isMethod ? `.${name}` : name
}

/** The text of an argument. @throws {CelError} with the name of the function when it is not a string. */
export function textArg(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  const text = textOf(value)
  if (text === undefined) throw noOverload(name, value)
  return text
}

export function intArg(value: unknown, name: string): bigint {
  if (typeof value === 'bigint') return value
  throw noOverload(name, value)
}

export function listArg(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw noOverload(name, value)
}

export function noOverload(name: string, ...args: readonly unknown[]): Error {
  return celError(`no such overload: ${name}(${args.map((arg) => typeName(arg)).join(', ')})`)
}
