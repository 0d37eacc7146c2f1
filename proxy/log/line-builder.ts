// Builds one access log line from its fields, in text or JSON. Reused for every line of a thread: the line is the only
// allocation.
import { printableJson } from '#api/printable.ts'
import type { FieldSink } from './fields.ts'
import type { LogFormat } from './logger.ts'
import { quotedValue, textName, textValue } from './text-value.ts'
import { formatMicros } from './timestamp.ts'

export interface LineBuilder extends FieldSink {
  /** Starts a line; names in `dropped` are left out. */
  begin(timeMicros: number, dropped: ReadonlySet<string> | undefined): void
  /** Current length; `since` and `raw` use it to store and repeat a run of fields. */
  readonly length: number
  since(length: number): string
  raw(fields: string): void
  /** The line with its newline. */
  end(): string
}

export function createLineBuilder(format: LogFormat): LineBuilder {
  return format === 'json' ? new JsonLineBuilder() : new TextLineBuilder()
}

class TextLineBuilder implements LineBuilder {
  #line = ''
  #dropped: ReadonlySet<string> | undefined = undefined

  begin(timeMicros: number, dropped: ReadonlySet<string> | undefined): void {
    this.#dropped = dropped
    this.#line = `${formatMicros(timeMicros)}\tinfo\trequest`
  }

  plain(name: string, value: string | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += ` ${name}=${value}`
  }

  text(name: string, value: string | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += ` ${name}=${textValue(value)}`
  }

  quoted(name: string, value: string | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += ` ${name}=${quotedValue(value)}`
  }

  number(name: string, value: number | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += ` ${name}=${value}`
  }

  added(name: string, value: unknown): void {
    if (value === undefined || value === null) return
    this.#line += ` ${textName(name)}=${typeof value === 'string' ? textValue(value) : addedJson(value)}`
  }

  get length(): number {
    return this.#line.length
  }

  since(length: number): string {
    return this.#line.slice(length)
  }

  raw(fields: string): void {
    this.#line += fields
  }

  end(): string {
    return `${this.#line}\n`
  }
}

class JsonLineBuilder implements LineBuilder {
  #line = ''
  #dropped: ReadonlySet<string> | undefined = undefined

  begin(timeMicros: number, dropped: ReadonlySet<string> | undefined): void {
    this.#dropped = dropped
    this.#line = `{"level":"info","time":"${formatMicros(timeMicros)}","scope":"request"`
  }

  plain(name: string, value: string | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += `,"${name}":"${value}"`
  }

  text(name: string, value: string | undefined): void {
    this.quoted(name, value)
  }

  quoted(name: string, value: string | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += `,"${name}":${quotedValue(value)}`
  }

  number(name: string, value: number | undefined): void {
    if (value === undefined || this.#dropped?.has(name) === true) return
    this.#line += `,"${name}":${value}`
  }

  added(name: string, value: unknown): void {
    if (value === undefined || value === null) return
    this.#line += `,${quotedValue(name)}:${addedJson(value)}`
  }

  get length(): number {
    return this.#line.length
  }

  since(length: number): string {
    return this.#line.slice(length)
  }

  raw(fields: string): void {
    this.#line += fields
  }

  end(): string {
    return `${this.#line}}\n`
  }
}

/** Expressions return maps, lists, bytes and 64-bit integers, besides JSON types. */
function addedJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  try {
    return printableJson(JSON.stringify(value, jsonReplacer) ?? '""')
  } catch {
    return '"<unprintable>"'
  }
}

function jsonReplacer(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // Buffers were already converted.
  const own = this[key]
  if (own instanceof Uint8Array) return Buffer.from(own).toString('base64')
  if (typeof value === 'bigint') return Number(value)
  return value instanceof Map ? Object.fromEntries(value) : value
}
