// Reading members, elements and keys of values. Only own data and members the host allows; never a prototype.
import { HeaderView } from '../values/header-view.ts'
import { CEL_FIELDS, isHostRecord, readMember } from '../values/host.ts'
import { CelUint } from '../values/uint.ts'
import { celError, missingKey } from './errors.ts'
import { isPlainRecord, normalised, textOf, typeName } from './types.ts'

/** The value of that field, or undefined when it is absent. @throws {CelError} when the value has no fields. */
export function fieldOrMissing(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) throw noFields(value)
  if (value instanceof Map) return normalised(value.get(name))
  if (isPlainRecord(value)) return Object.hasOwn(value, name) ? normalised(value[name]) : undefined
  if (value instanceof HeaderView) return value.get(name)
  if (isHostRecord(value)) return value[CEL_FIELDS].has(name) ? normalised(readMember(value, name)) : undefined
  throw noFields(value)
}

/** The element or entry, or undefined when it is absent. @throws {CelError} when the value has no such index. */
export function elementOrMissing(value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) return listElement(value, key)
  const text = textOf(key)
  if (text !== undefined) return fieldOrMissing(value, text)
  if (value instanceof Map) return normalised(value.get(mapKey(key)))
  if (typeName(value) !== 'map') throw noFields(value)
  mapKey(key)
  return undefined
}

/** `value[key]` */
export function element(value: unknown, key: unknown): unknown {
  const found = elementOrMissing(value, key)
  if (found !== undefined) return found
  if (Array.isArray(value)) throw celError(`index out of bounds: ${describeKey(key)}`)
  throw missingKey(describeKey(key))
}

/** The form in which maps hold a key: strings, booleans, and one bigint for every number of the same value. */
export function mapKey(key: unknown): string | boolean | bigint {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key
  const integer = integral(key)
  if (integer !== undefined) return integer
  const text = textOf(key)
  if (text !== undefined) return text
  if (typeof key === 'number') return String(key)
  throw celError(`unsupported key type: ${typeName(key)}`)
}

/** An integer in any numeric type, as a bigint; undefined for everything else. */
export function integral(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (value instanceof CelUint) return value.value
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  return undefined
}

/** Keys of a map value in order. @throws {CelError} when it is not a map. */
export function keysOf(value: unknown): unknown[] {
  if (value instanceof Map) return [...value.keys()]
  if (typeof value === 'object' && value !== null) {
    if (value instanceof HeaderView) return value.keys()
    if (isPlainRecord(value)) return Object.keys(value)
    if (isHostRecord(value)) {
      return [...value[CEL_FIELDS]].filter((name) => readMember(value, name) !== undefined)
    }
  }
  throw celError(`no such overload: keys of ${typeName(value)}`)
}

/** What a comprehension runs over: elements of a list, keys of a map. */
export function iterated(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (typeName(value) !== 'map') throw celError(`cannot iterate over ${typeName(value)}`)
  return keysOf(value)
}

function listElement(list: readonly unknown[], key: unknown): unknown {
  const index = integral(key)
  if (index === undefined) throw celError(`unsupported index type: ${typeName(key)}`)
  return index < 0n || index >= BigInt(list.length) ? undefined : normalised(list[Number(index)])
}

function noFields(value: unknown): Error {
  return celError(`no such overload: ${typeName(value)} has no fields`)
}

function describeKey(key: unknown): string {
  const text = textOf(key)
  if (text !== undefined) return text.length > 64 ? `${text.slice(0, 64)}…` : text
  return key instanceof CelUint ? key.value.toString() : String(key)
}
