// The header fields of one message as expressions see them. A view: it copies nothing until it is read.
import { isUtf8 } from 'node:buffer'
import { CREDENTIAL_HEADERS, REDACTED } from '#api/credentials/sensitive-headers.ts'
import { chargeCurrent } from '../engine/meter.ts'

/** The source of the fields, such as the proxy's header list: names (lower case) and values in turn, in wire order. */
export interface HeaderFields {
  readonly fields: readonly string[]
}

/**
 * How several fields of one name are returned: `merged` one as a string, several as a list; `joined` one string with
 * `, `; `raw` always a list, one element a field; `split` always a list, comma-separated members apart.
 */
export type HeaderMode = 'merged' | 'joined' | 'raw' | 'split'

const BEYOND_ASCII = /[\u0080-\u00ff]/

export class HeaderView {
  readonly mode: HeaderMode
  readonly #source: HeaderFields
  readonly #isRedacted: boolean

  constructor(source: HeaderFields, mode: HeaderMode = 'merged', isRedacted = false) {
    this.mode = mode
    this.#source = source
    this.#isRedacted = isRedacted
  }

  /** A view that hides the values of credentials. */
  redacted(): HeaderView {
    return new HeaderView(this.#source, this.mode, true)
  }

  withMode(mode: HeaderMode): HeaderView {
    return new HeaderView(this.#source, mode, this.#isRedacted)
  }

  /** The value or values of that field; the name is case-insensitive; undefined when it is absent. */
  get(name: string): string | string[] | undefined {
    const values = this.#values(name.toLowerCase())
    if (values.length === 0) return undefined
    if (this.mode === 'joined') return values.join(', ')
    if (this.mode === 'split') return split(values)
    return this.mode === 'merged' && values.length === 1 ? values[0] : values
  }

  has(name: string): boolean {
    return this.#source.fields.length > 0 && this.#values(name.toLowerCase()).length > 0
  }

  /** Names in the order of their first appearance. */
  keys(): string[] {
    const names = new Set<string>()
    const { fields } = this.#source
    for (let i = 0; i < fields.length; i += 2) names.add((fields[i] ?? '').toLowerCase())
    return [...names]
  }

  /** The value of that cookie in the Cookie field (RFC 6265 section 4.2); undefined when it is absent. */
  cookie(name: string): string | undefined {
    const { fields } = this.#source
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== 'cookie') continue
      const field = fields[i + 1] ?? ''
      chargeCurrent(field.length >>> 2)
      for (const pair of field.split(';')) {
        const at = pair.indexOf('=')
        if (at > 0 && pair.slice(0, at).trim() === name)
          return this.#isRedacted ? REDACTED : textOf(unquote(pair.slice(at + 1)))
      }
    }
    return undefined
  }

  #values(name: string): string[] {
    const { fields } = this.#source
    const values: string[] = []
    let length = 0
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== name) continue
      const field = fields[i + 1] ?? ''
      length += field.length
      values.push(textOf(field))
    }
    chargeCurrent(length >>> 4)
    return this.#isRedacted && CREDENTIAL_HEADERS.has(name) ? values.map(() => REDACTED) : values
  }
}

/** Fields hold bytes shown as Latin-1. Clients write text as UTF-8; bytes that are not valid UTF-8 stay as they are. */
function textOf(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}

function split(values: readonly string[]): string[] {
  const members = values.flatMap(splitMembers)
  chargeCurrent(members.length)
  return members
}

function splitMembers(value: string): string[] {
  return value.split(',').map((member) => member.trim())
}

function unquote(value: string): string {
  const trimmed = value.trim()
  return trimmed.length >= 2 && trimmed.startsWith('"') && trimmed.endsWith('"') ? trimmed.slice(1, -1) : trimmed
}
