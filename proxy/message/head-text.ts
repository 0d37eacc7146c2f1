// Writes request and response heads from parsed form. The last protection against header injection: every value is
// checked.
import { fieldName, FieldKind, isToken } from './field-name.ts'
import { type HeaderList, startsWithFields } from './headers.ts'
import { reasonPhrase } from './reason-phrase.ts'

/** The framing of an outgoing body. A number is a content-length. */
export type OutgoingFraming = number | 'Chunked' | 'None' | 'Close'

/** Also rejects characters above U+00FF: written as latin1, some of them would become CR or LF. */
export const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/
const BAD_TARGET = /[^!"$-~]/
const AUTHORITY = /^[^\s/?#@\\]+$/
const DIGITS = /^[0-9]+$/
export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

const statusLines: (string | undefined)[] = []

function statusLine(status: number): string {
  return (statusLines[status] ??= `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`)
}

let dateSecond = 0
let dateLine = ''

/** RFC 9110 section 6.6.1: an origin with a clock sends a date. Built once a second. */
function currentDateLine(): string {
  const now = Date.now()
  const second = Math.trunc(now / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateLine = `date: ${new Date(now).toUTCString()}\r\n`
  }
  return dateLine
}

export interface ResponseHeadInput {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: OutgoingFraming
  /** Value of `connection`, or undefined to omit the field. */
  readonly connection: string | undefined
  /** HEAD and 304: content-length of the list describes a body that is not sent. */
  readonly keepsLength: boolean
  /** With `Chunked`: fields that may follow the body. */
  readonly trailerNames?: string | undefined
}

/** Status line to empty line; undefined if a field has characters that HTTP does not allow. */
export function responseHeadText(input: ResponseHeadInput): string | undefined {
  const { headers } = input
  const block = fieldBlock(headers, input.keepsLength)
  if (block === undefined) return undefined
  let text = statusLine(input.status) + block
  if (!headers.has('date')) text += currentDateLine()
  text += framingLine(input.framing)
  if (input.trailerNames !== undefined) text += `trailer: ${input.trailerNames}\r\n`
  if (input.connection !== undefined) text += `connection: ${input.connection}\r\n`
  return `${text}\r\n`
}

export interface RequestHeadInput {
  readonly method: string
  readonly pathAndQuery: string
  readonly authority: string
  readonly headers: HeaderList
  readonly framing: OutgoingFraming
  readonly upgrade: string | undefined
  /** For a proxy: the target is an absolute URI (RFC 9112 section 3.2.2). */
  readonly isForwarded?: boolean
  /** With `Chunked`: fields that may follow the body. */
  readonly trailerNames?: string | undefined
}

/** Request line to empty line; undefined if a part has characters that HTTP does not allow. */
export function requestHeadText(input: RequestHeadInput): string | undefined {
  const { method, authority, headers } = input
  if (!isFit(input)) return undefined
  const block = fieldBlock(headers, false)
  if (block === undefined) return undefined
  const hostName = headers.wireNames?.get('host') ?? 'host'
  const line = `${method} ${targetOf(input)} HTTP/1.1\r\n`
  let text = `${line}${hostName}: ${authority}\r\n${block}${framingLine(input.framing)}`
  if (input.trailerNames !== undefined) text += `trailer: ${input.trailerNames}\r\n`
  return input.upgrade === undefined ? `${text}\r\n` : `${text}connection: upgrade\r\nupgrade: ${input.upgrade}\r\n\r\n`
}

interface RequestLine {
  readonly method: string
  readonly pathAndQuery: string
  readonly authority: string
}

let fit: RequestLine | undefined

/** Reuses the previous result for a client that repeats its requests. */
function isFit({ method, pathAndQuery, authority }: RequestHeadInput): boolean {
  if (method === fit?.method && pathAndQuery === fit.pathAndQuery && authority === fit.authority) return true
  if (!isToken(method) || pathAndQuery === '' || BAD_TARGET.test(pathAndQuery)) return false
  if (BAD_VALUE.test(authority) || (authority !== '' && !AUTHORITY.test(authority))) return false
  fit = { method, pathAndQuery, authority }
  return true
}

/** Absolute form: `*` stands for an empty path (RFC 9112 section 3.2.4). */
function targetOf({ authority, pathAndQuery, isForwarded }: RequestHeadInput): string {
  if (isForwarded !== true) return pathAndQuery
  return `http://${authority}${pathAndQuery === '*' ? '' : pathAndQuery}`
}

function framingLine(framing: OutgoingFraming): string {
  if (typeof framing === 'number') return `content-length: ${framing}\r\n`
  return framing === 'Chunked' ? 'transfer-encoding: chunked\r\n' : ''
}

/** Fields that a peer repeats are written from their cached text, also if others were added behind them. */
function fieldBlock(headers: HeaderList, keepsLength: boolean): string | undefined {
  const { origin, fields } = headers
  if (origin === undefined || keepsLength || !startsWithFields(fields, origin.fields)) {
    return writtenBlock(headers, { start: 0, end: fields.length, keepsLength })
  }
  const ofOrigin = origin.fields.length
  const block = (origin.block ??= writtenBlock(headers, { start: 0, end: ofOrigin, keepsLength: false }))
  if (block === undefined || fields.length === ofOrigin) return block
  const added = writtenBlock(headers, { start: ofOrigin, end: fields.length, keepsLength: false })
  return added === undefined ? undefined : block + added
}

interface WrittenFields {
  /** Indexes in the list. */
  readonly start: number
  readonly end: number
  readonly keepsLength: boolean
}

/**
 * The fields of a list without those that the engine writes itself: framing always matches the body that is sent, even
 * if a filter left other values in the list.
 */
function writtenBlock(
  { fields, wireNames }: HeaderList,
  { start, end, keepsLength }: WrittenFields,
): string | undefined {
  let text = ''
  for (let i = start; i < end; i += 2) {
    const raw = fields[i] ?? ''
    const value = fields[i + 1] ?? ''
    const name = fieldName(raw)
    if (name === undefined || BAD_VALUE.test(value)) return undefined
    if (name.kind === FieldKind.Ordinary || isSent(name.kind, value, keepsLength))
      text += `${wireNames?.get(raw) ?? raw}: ${value}\r\n`
  }
  return text
}

/**
 * Of the fields with a role, only these may be sent. A challenge in the list is always the gateway's own: parsers drop
 * those of peers.
 */
function isSent(kind: FieldKind, value: string, keepsLength: boolean): boolean {
  if (kind === FieldKind.Te) return value === 'trailers'
  if (kind === FieldKind.ProxyAuthenticate) return true
  return kind === FieldKind.ContentLength && keepsLength && DIGITS.test(value)
}
