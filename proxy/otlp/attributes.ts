// Fields of a request as OTLP attributes: names of the access log, with types. Bounded in number and length.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { CelUint } from '#api/cel/values/uint.ts'
import { jsonText } from '#api/cel/values/json.ts'
import type { FieldSink } from '../log/fields.ts'
import { textOf } from '../cel/evaluate.ts'
import { AnyValueSchema, type AnyValue, type KeyValueSchema } from './gen/opentelemetry/proto/common/v1/common.gen.ts'

export type Attribute = MessageInitShape<typeof KeyValueSchema>

/** OpenTelemetry's own default for spans. */
const ATTRIBUTES_MAX = 128
const CHARACTERS_MAX = 4096
const DEPTH_MAX = 16
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

export class AttributeList implements FieldSink {
  readonly attributes: Attribute[] = []
  /** How many did not fit. */
  dropped = 0
  readonly #removed: ReadonlySet<string> | undefined

  constructor(removed: ReadonlySet<string> | undefined) {
    this.#removed = removed
  }

  plain(name: string, value: string | undefined): void {
    if (value !== undefined && this.#removed?.has(name) !== true) this.#push(name, text(value))
  }

  text(name: string, value: string | undefined): void {
    this.plain(name, value)
  }

  quoted(name: string, value: string | undefined): void {
    this.plain(name, value)
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined && this.#removed?.has(name) !== true) this.#push(name, numeric(value))
  }

  added(name: string, value: unknown): void {
    if (value === undefined || value === null) return
    const converted = anyValueOf(value)
    if (converted !== undefined) this.#push(name, converted)
  }

  #push(key: string, value: AnyValue): void {
    if (this.attributes.length < ATTRIBUTES_MAX) this.attributes.push({ key, value })
    else this.dropped++
  }
}

export function text(value: string): AnyValue {
  const cut = value.length > CHARACTERS_MAX ? value.slice(0, CHARACTERS_MAX) : value
  // A half of a surrogate pair is no UTF-8 text, and would make the whole batch fail.
  return create(AnyValueSchema, { value: { case: 'stringValue', value: cut.toWellFormed() } })
}

function numeric(value: number): AnyValue {
  return Number.isSafeInteger(value)
    ? create(AnyValueSchema, { value: { case: 'intValue', value: BigInt(value) } })
    : create(AnyValueSchema, { value: { case: 'doubleValue', value } })
}

/** What an expression gave; undefined for what has no such form. */
export function anyValueOf(value: unknown): AnyValue | undefined {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'boolean') return create(AnyValueSchema, { value: { case: 'boolValue', value } })
  if (typeof value === 'number') return create(AnyValueSchema, { value: { case: 'doubleValue', value } })
  if (typeof value === 'bigint') return integer(value)
  if (value instanceof CelUint) return integer(value.value)
  if (value instanceof Uint8Array) {
    return create(AnyValueSchema, {
      value: { case: 'bytesValue', value: new Uint8Array(value.subarray(0, CHARACTERS_MAX)) },
    })
  }
  const scalar = textOf(value)
  if (scalar !== undefined) return text(scalar)
  try {
    return fromJson(JSON.parse(jsonText(value)), 0)
  } catch {
    return undefined
  }
}

function integer(value: bigint): AnyValue {
  if (value > INT64_MAX || value < INT64_MIN) return text(String(value))
  return create(AnyValueSchema, { value: { case: 'intValue', value } })
}

function fromJson(value: unknown, depth: number): AnyValue | undefined {
  if (typeof value === 'number') return numeric(value)
  if (typeof value !== 'object') return anyScalar(value)
  if (value === null || depth >= DEPTH_MAX) return undefined
  if (Array.isArray(value)) {
    const values = value.slice(0, ATTRIBUTES_MAX).map((item) => fromJson(item, depth + 1) ?? create(AnyValueSchema))
    return create(AnyValueSchema, { value: { case: 'arrayValue', value: { values } } })
  }
  const values: Attribute[] = []
  for (const [key, item] of Object.entries(value).slice(0, ATTRIBUTES_MAX)) {
    values.push({ key: key.toWellFormed(), value: fromJson(item, depth + 1) ?? create(AnyValueSchema) })
  }
  return create(AnyValueSchema, { value: { case: 'kvlistValue', value: { values } } })
}

function anyScalar(value: unknown): AnyValue | undefined {
  if (typeof value === 'string') return text(value)
  return typeof value === 'boolean' ? create(AnyValueSchema, { value: { case: 'boolValue', value } }) : undefined
}
