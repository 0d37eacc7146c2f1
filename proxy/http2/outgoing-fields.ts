// Header blocks to send, as flat lists for node:http2. The last guard: nothing unchecked and nothing connection-
// specific goes out, whatever a filter left in a list.
import { fieldName, FieldKind, isToken } from '../message/field-name.ts'
import { BAD_VALUE } from '../message/head-text.ts'
import type { HeaderList } from '../message/headers.ts'
import { TARGET } from '../http/request-parser.ts'
import { mayTrail } from '../message/trailer-fields.ts'
import { KEY_FIELD } from '../message/websocket.ts'

const DIGITS = /^[0-9]+$/
const OUTER_SPACE = /^[ \t]+|[ \t]+$/g

/** undefined: a field is not fit for the wire. */
export function responseFields(input: {
  readonly status: number
  readonly headers: HeaderList
  /** Of the body that is sent. */
  readonly length: number | undefined
  /** HEAD and 304: content-length of the list describes a body that is not sent. */
  readonly keepsLength: boolean
}): string[] | undefined {
  const fields = [':status', String(input.status)]
  if (!appendFields(fields, input.headers, input.keepsLength)) return undefined
  if (input.length !== undefined) fields.push('content-length', String(input.length))
  return fields
}

/** undefined: a part is not fit for the wire. */
export function requestFields(input: {
  readonly method: string
  readonly scheme: string
  readonly authority: string
  readonly pathAndQuery: string
  readonly headers: HeaderList
  readonly length: number | undefined
  /** Of an extended CONNECT (RFC 8441), which takes the place of an upgrade. */
  readonly protocol?: string | undefined
}): string[] | undefined {
  const { method, scheme, authority, pathAndQuery, protocol } = input
  if (!isToken(method) || !TARGET.test(pathAndQuery) || !AUTHORITY.test(authority)) return undefined
  const place = [':scheme', scheme, ':authority', authority, ':path', pathAndQuery]
  const fields =
    protocol === undefined ? [':method', method, ...place] : [':method', 'CONNECT', ':protocol', protocol, ...place]
  if (!appendFields(fields, input.headers, false)) return undefined
  if (input.length !== undefined) fields.push('content-length', String(input.length))
  return protocol === undefined ? fields : withoutKey(fields)
}

/** RFC 8441 section 5. */
function withoutKey(fields: string[]): string[] {
  const at = fields.indexOf(KEY_FIELD)
  if (at >= 0 && at % 2 === 0) fields.splice(at, 2)
  return fields
}

/** Fields that may stand behind a body; others are left out (RFC 9110 section 6.5.1). */
export function trailerFields(trailers: HeaderList | undefined): Record<string, string | string[]> {
  // Open keys: no prototype. node takes them as OutgoingHttpHeaders.
  const object = Object.create(null) as Record<string, string | string[]>
  for (const [raw, value] of trailers ?? []) {
    const name = fieldName(raw)
    if (name === undefined || !mayTrail(name) || BAD_VALUE.test(value)) continue
    const before = object[name.lower]
    if (before === undefined) object[name.lower] = value
    else if (typeof before === 'string') object[name.lower] = [before, value]
    else before.push(value)
  }
  return object
}

const AUTHORITY = /^[!-~]+$/

function appendFields(fields: string[], headers: HeaderList, keepsLength: boolean): boolean {
  const list = headers.fields
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1] ?? ''
    const name = fieldName(list[i] ?? '')
    if (name === undefined || BAD_VALUE.test(value)) return false
    if (name.kind !== FieldKind.Ordinary && !isSent(name.kind, value, keepsLength)) continue
    fields.push(name.lower, value.replace(OUTER_SPACE, ''))
  }
  return true
}

function isSent(kind: FieldKind, value: string, keepsLength: boolean): boolean {
  if (kind === FieldKind.Te) return value === 'trailers'
  if (kind === FieldKind.ProxyAuthenticate) return true
  return kind === FieldKind.ContentLength && keepsLength && DIGITS.test(value)
}
