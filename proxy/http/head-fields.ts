// Reads the header block of a request or response head (latin1 text) and sorts out framing and hop-by-hop fields.
// Must not be lenient anywhere: what is accepted here is what both sides of the proxy have to agree on.
import type { FailureCode } from '../exchange/errors.ts'
import { fieldName, FieldKind } from '../message/field-name.ts'

export interface HeadProblem {
  readonly code: Extract<
    FailureCode,
    'invalidRequest' | 'headersTooLarge' | 'uriTooLong' | 'expectationFailed' | 'unsupportedProtocol'
  >
  readonly detail: string
}

export const invalid = (detail: string): HeadProblem => ({ code: 'invalidRequest', detail })

/** Control characters, and CR or LF that are not a pair (RFC 9112 section 2.2), for text that is still growing. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const BAD_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]|(?:^|[^\r])\n/
export const hasBadControl = (text: string): boolean => BAD_TEXT.test(text)

const DIGITS = /^[0-9]+$/
/** Keeps every accepted length below 2^53. */
const LENGTH_DIGITS_MAX = 15
/** Names in `Connection`; more is abuse. */
const CONNECTION_OPTIONS_MAX = 32
const TAB = 9
const SPACE = 32

export const BAD_CONTROL = invalid('control character, bare CR or bare LF in the head')
const BAD_NAME = invalid('invalid header name')
const BAD_LENGTH = invalid('invalid content-length')
const SEVERAL_LENGTHS = invalid('more than one content-length')
const BAD_ENCODING = invalid('transfer-encoding other than chunked')
const LENGTH_AND_ENCODING = invalid('both content-length and transfer-encoding')
const SEVERAL_HOSTS = invalid('more than one host')
export const SEVERAL_TYPES = invalid('two different content-types')
const TOO_MANY_OPTIONS = invalid('too many connection options')
const TOO_MANY: HeadProblem = { code: 'headersTooLarge', detail: 'too many header fields' }

/** What a header block says. `fields` has no host and no hop-by-hop fields, but keeps content-length for readers. */
export class HeadFields {
  fields: string[] = []
  host: string | undefined = undefined
  contentLength: number | undefined = undefined
  isChunked = false
  hasClose = false
  hasKeepAlive = false
  hasUpgrade = false
  upgrade: string | undefined = undefined
  expect: string | undefined = undefined
  /** Names that `trailer` announces. */
  trailerNames: string | undefined = undefined
  /** lower case → spelling on the wire, only with `preserveHeaderCase`. */
  wireNames: Map<string, string> | undefined = undefined
  #named: string[] | undefined = undefined
  #hasTrailers = false

  /**
   * `head` ends with the empty line (CRLF CRLF); fields begin at `start`. Its characters are checked already
   * (head-buffer.ts), all but the pairing of CR and LF.
   */
  static read(
    head: string,
    options: { start: number; headersMax: number; preservesCase: boolean },
  ): HeadFields | HeadProblem {
    const parsed = new HeadFields()
    if (options.preservesCase) parsed.wireNames = new Map()
    const end = head.length - 2
    let count = 0
    for (let at = options.start; at < end;) {
      const lineEnd = head.indexOf('\r', at)
      if (head.indexOf('\n', at) !== lineEnd + 1) return BAD_CONTROL
      const colon = head.indexOf(':', at)
      if (colon < 0 || colon > lineEnd) return BAD_NAME
      // A broken line further on decides, as it would if it had come in a part of its own.
      if (++count > options.headersMax) return hasBadControl(head) ? BAD_CONTROL : TOO_MANY
      const problem = parsed.#take(head.slice(at, colon), trimmed(head, colon + 1, lineEnd))
      if (problem !== undefined) return problem
      at = lineEnd + 2
    }
    return parsed.#finish() ?? parsed
  }

  /** Of a request: undefined when chunked, 0 when nothing is announced (RFC 9112 section 6.3). */
  get bodyLength(): number | undefined {
    return this.isChunked ? undefined : (this.contentLength ?? 0)
  }

  #take(raw: string, value: string): HeadProblem | undefined {
    const name = fieldName(raw)
    if (name === undefined) return BAD_NAME
    if (name.kind === FieldKind.Ordinary) this.fields.push(name.lower, value)
    else {
      const problem = this.#takeSpecial(name.kind, value)
      if (problem !== undefined) return problem
    }
    if (this.wireNames !== undefined && !this.wireNames.has(name.lower)) this.wireNames.set(name.lower, raw)
    return undefined
  }

  #takeSpecial(kind: FieldKind, value: string): HeadProblem | undefined {
    if (kind === FieldKind.Host) {
      if (this.host !== undefined) return SEVERAL_HOSTS
      this.host = value
      return undefined
    }
    if (kind === FieldKind.ContentLength) return this.#takeLength(value)
    if (kind === FieldKind.Connection) return this.#takeConnection(value)
    if (kind === FieldKind.TransferEncoding) {
      if (this.isChunked || value.toLowerCase() !== 'chunked') return BAD_ENCODING
      this.isChunked = true
      return undefined
    }
    this.#takeWish(kind, value)
    return undefined
  }

  #takeWish(kind: FieldKind, value: string): void {
    if (kind === FieldKind.Expect) this.expect = joined(this.expect, value.toLowerCase())
    else if (kind === FieldKind.Upgrade) this.upgrade = joined(this.upgrade, value)
    else if (kind === FieldKind.Trailer) this.trailerNames = joined(this.trailerNames, value)
    else if (kind === FieldKind.Te) this.#hasTrailers ||= value.toLowerCase().split(',').some(isTrailers)
  }

  #takeLength(value: string): HeadProblem | undefined {
    if (this.contentLength !== undefined) return SEVERAL_LENGTHS
    if (value.length > LENGTH_DIGITS_MAX || !DIGITS.test(value)) return BAD_LENGTH
    this.contentLength = Number(value)
    this.fields.push('content-length', value)
    return undefined
  }

  #takeConnection(value: string): HeadProblem | undefined {
    const lower = value.toLowerCase()
    if (lower === 'keep-alive') this.hasKeepAlive = true
    else if (lower === 'close') this.hasClose = true
    else {
      for (const part of lower.split(',')) {
        const option = part.trim()
        if (option === 'close') this.hasClose = true
        else if (option === 'keep-alive') this.hasKeepAlive = true
        else if (option === 'upgrade') this.hasUpgrade = true
        else if (option !== '' && (this.#named ??= []).push(option) > CONNECTION_OPTIONS_MAX) return TOO_MANY_OPTIONS
      }
    }
    return undefined
  }

  #finish(): HeadProblem | undefined {
    if (this.isChunked && this.contentLength !== undefined) return LENGTH_AND_ENCODING
    if (this.#named !== undefined) this.fields = without(this.fields, this.#named)
    if (this.#hasTrailers) this.fields.push('te', 'trailers')
    return undefined
  }
}

/**
 * RFC 9110 section 8.3: one type, though recipients handle two in different ways; what looks at the body and what gets
 * it would disagree on what it is.
 */
export function hasTwoTypes(fields: readonly string[]): boolean {
  let type: string | undefined
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i] !== 'content-type') continue
    if (type !== undefined && fields[i + 1] !== type) return true
    type = fields[i + 1]
  }
  return false
}

/** Several fields of one name are one list (RFC 9110 section 5.3). */
export function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

function isTrailers(option: string): boolean {
  return option.trim() === 'trailers'
}

function without(fields: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    if (!names.includes(name)) kept.push(name, fields[i + 1] ?? '')
  }
  return kept
}

/** Without optional white space: SP and HTAB only, so not `trim`. */
export function trimmed(text: string, start: number, end: number): string {
  let from = start
  let to = end
  // Nearly every value has one space in front and none behind.
  if (text.charCodeAt(from) === SPACE && from < to) from++
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}
