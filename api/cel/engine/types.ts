// The types of values. Only this file determines them, so that operators, functions and messages agree.
import { CelDuration } from '../values/duration.ts'
import { HeaderView } from '../values/header-view.ts'
import { isHostRecord } from '../values/host.ts'
import { CelCidr, CelIp } from '../values/ip.ts'
import { CelOptional } from '../values/optional.ts'
import { QueryString } from '../values/query-string.ts'
import { SecretString } from '../values/secret-string.ts'
import { CelTimestamp } from '../values/timestamp.ts'
import { CelType } from '../values/type-value.ts'
import { CelUint } from '../values/uint.ts'
import { celError } from './errors.ts'

/** CEL type names as `type(x)` prints them. */
export type CelTypeName =
  | 'null_type'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'type'
  | 'google.protobuf.Duration'
  | 'google.protobuf.Timestamp'
  | 'optional_type'
  | 'net.IP'
  | 'net.CIDR'

const CLASSES: readonly (readonly [abstract new (...args: never[]) => object, CelTypeName])[] = [
  [CelUint, 'uint'],
  [CelDuration, 'google.protobuf.Duration'],
  [CelTimestamp, 'google.protobuf.Timestamp'],
  [Date, 'google.protobuf.Timestamp'],
  [CelType, 'type'],
  [CelOptional, 'optional_type'],
  [CelIp, 'net.IP'],
  [CelCidr, 'net.CIDR'],
  [QueryString, 'string'],
  [SecretString, 'string'],
  [HeaderView, 'map'],
  [Map, 'map'],
  [Uint8Array, 'bytes'],
]

/** @throws {CelError} for a value that the language does not have. */
export function typeName(value: unknown): CelTypeName {
  if (typeof value === 'object') return value === null ? 'null_type' : objectTypeName(value)
  if (typeof value === 'string') return 'string'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'boolean') return 'bool'
  throw celError(`a value of type ${typeof value} is not a CEL value`)
}

function objectTypeName(value: object): CelTypeName {
  if (Array.isArray(value)) return 'list'
  if (isPlainRecord(value)) return 'map'
  for (const [type, name] of CLASSES) if (value instanceof type) return name
  if (isHostRecord(value)) return 'map'
  throw celError('a host object that is not a CEL value')
}

/** An object without a class: from JSON, or a null-prototype record. */
export function isPlainRecord(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

export function isMap(value: unknown): boolean {
  return typeName(value) === 'map'
}

/** The text of a string or of a host object that acts as one; undefined for everything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value instanceof QueryString) return value.text
  if (value instanceof SecretString) return value.toString()
  return undefined
}

/** Host values in the form the engine computes with. */
export function normalised(value: unknown): unknown {
  if (value instanceof Date) return CelTimestamp.fromMs(value.getTime())
  return value
}

/** Values outside of the engine: host objects that act as strings become strings, and a secret becomes `<redacted>`. */
export function plainResult(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (textOf(value) ?? value) : value
}
