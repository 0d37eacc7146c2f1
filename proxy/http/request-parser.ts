// Incremental parser of request heads (RFC 9112): strict, the same result at any split, nothing normalised but the
// path.
import { isToken } from '../message/field-name.ts'
import { HeadBuffer } from './head-buffer.ts'
import { BAD_CONTROL, hasTwoTypes, HeadFields, invalid, type HeadProblem, SEVERAL_TYPES } from './head-fields.ts'
import type { ConnectionLimits } from './handler.ts'
import { type FieldsOrigin, HeaderList } from '../message/headers.ts'
import { HttpRequest, type HttpVersion } from '../message/message.ts'
import { canonicalAuthority, isAuthority, withoutRootDot } from '../message/authority.ts'
import { normalisedPath } from './request-path.ts'

/** A request head and what its framing and connection fields ask of the engine. */
export interface RequestHead {
  readonly request: HttpRequest
  /** Bytes of body; 0 for none, undefined when chunked. */
  readonly contentLength: number | undefined
  readonly isKeepAlive: boolean
  readonly expectsContinue: boolean
  /** What `trailer` announces. */
  readonly trailerNames: string | undefined
}

/** One protocol, with or without a version (RFC 9110 section 7.8); a list leaves open what would be spliced. */
const UPGRADE = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,64}(?:\/[!#$%&'*+\-.^_`|~0-9a-z]{1,64})?$/
/**
 * What speaks HTTP inside would carry requests past routing and policies: it is not passed on, and the request goes its
 * normal way.
 */
const CARRIES_HTTP = /^(?:h2c?|h3|http(?:\/.*)?|tls(?:\/.*)?)$/
/** Visible US-ASCII without `#`: a fragment never travels (RFC 9112 section 3.2). */
export const TARGET = /^[!"$-~]+$/
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/i
const SLASH = 0x2f
const METHOD_LENGTH_MAX = 64
/** Larger heads carry tokens and cookies that change; they are not kept. */
const MEMO_BYTES_MAX = 4096
/** Known to be tokens; others are looked at. */
const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])

/** The first lines of HTTP/2 with prior knowledge (RFC 9113 section 3.4), which look like a head. */
export const HTTP2_PREFACE = 'PRI * HTTP/2.0\r\n\r\n'
/** Not an error where HTTP/2 is served on the same port. */
export const IS_HTTP2 = invalid('HTTP/2 preface')

const BAD_LINE = invalid('invalid request line')
const BAD_METHOD = invalid('invalid method')
const BAD_TARGET = invalid('invalid request target')
const BAD_PATH = invalid('path with a broken escape or a hidden dot segment')
const BAD_VERSION = invalid('HTTP version other than 1.0 and 1.1')
const BAD_HOST = invalid('invalid host')
const NO_HOST = invalid('missing host')
const HOST_DIFFERS = invalid('host differs from the authority of the request target')
const ENCODING_IN_10 = invalid('transfer-encoding in HTTP/1.0')
const BAD_EXPECT: HeadProblem = {
  code: 'expectationFailed',
  detail: 'unsupported Expect value: only 100-continue is supported',
}
const LINE_TOO_LONG: HeadProblem = { code: 'uriTooLong', detail: 'request line is too long' }
const BLOCK_TOO_LARGE: HeadProblem = { code: 'headersTooLarge', detail: 'header fields are too large' }

export class RequestParser {
  readonly #scheme: 'http' | 'https'
  readonly #buffer = new HeadBuffer()
  /** The last good head: a client that repeats it byte for byte is answered from its parsed form. */
  #memoText = ''
  #memoLimits: ConnectionLimits | undefined = undefined
  #memo: RequestHead | undefined = undefined
  #memoOrigin: FieldsOrigin = { fields: [], block: undefined }

  constructor(scheme: 'http' | 'https') {
    this.#scheme = scheme
  }

  /** True before the first byte of a head. */
  get isIdle(): boolean {
    return this.#buffer.isEmpty
  }

  /** After a head: offset of the first byte behind it in the fed buffer. */
  get next(): number {
    return this.#buffer.next
  }

  /** undefined: all bytes taken, the head is not complete. */
  feed(
    buffer: Buffer,
    range: { readonly start: number; readonly end: number },
    limits: ConnectionLimits,
  ): RequestHead | HeadProblem | undefined {
    const result = this.#buffer.feed(buffer, range.start, range.end, limits.headerBytesMax)
    if (result === 'Complete') return this.#complete(buffer, limits)
    if (result === 'More') return undefined
    return result === 'Bad' ? BAD_CONTROL : tooLarge(this.#buffer.pending)
  }

  #complete(buffer: Buffer, limits: ConnectionLimits): RequestHead | HeadProblem {
    const text = this.#buffer.head
    // Parsing is a pure function of these two; filters change the list they are given, so each request gets a copy.
    if (text === this.#memoText && limits === this.#memoLimits && this.#memo !== undefined) {
      return repeated(this.#memo, this.#memoOrigin)
    }
    if (this.#buffer.hasBadCharacter(buffer)) return BAD_CONTROL
    const head = parseRequestHead(text, limits, this.#scheme)
    if ('code' in head || text.length > MEMO_BYTES_MAX) return head
    this.#memoText = text
    this.#memoLimits = limits
    this.#memoOrigin = { fields: head.request.headers.fields.slice(), block: undefined }
    this.#memo = repeated(head, this.#memoOrigin)
    return head
  }
}

/** A head of its own with the same content. */
function repeated(head: RequestHead, origin: FieldsOrigin): RequestHead {
  const { request, contentLength, isKeepAlive, expectsContinue, trailerNames } = head
  const headers = new HeaderList(origin.fields.slice())
  headers.wireNames = request.headers.wireNames
  headers.origin = origin
  const { method, path, query, host, scheme, version } = request
  const copy = new HttpRequest({ method, path, query, host, scheme, version, headers })
  copy.upgrade = request.upgrade
  return { request: copy, contentLength, isKeepAlive, expectsContinue, trailerNames }
}

/** Which of the two went over: without a line end within the limit it is the request line. */
function tooLarge(pending: string): HeadProblem {
  return pending.indexOf('\r\n', 2) < 0 ? LINE_TOO_LONG : BLOCK_TOO_LARGE
}

/** `text` is free of control characters but HTAB, CR and LF. */
export function parseRequestHead(
  text: string,
  limits: ConnectionLimits,
  scheme: 'http' | 'https',
): RequestHead | HeadProblem {
  // One empty line before a request is tolerated (RFC 9112 section 2.2).
  const head = text.startsWith('\r\n') ? text.slice(2) : text
  const lineEnd = head.indexOf('\r')
  if (head.indexOf('\n') !== lineEnd + 1) return BAD_CONTROL
  const methodEnd = head.indexOf(' ')
  const targetEnd = lineEnd - ' HTTP/1.1'.length
  if (methodEnd < 1 || methodEnd >= targetEnd) return BAD_LINE
  const version = versionOf(head, targetEnd)
  if (typeof version !== 'string') return head === HTTP2_PREFACE ? IS_HTTP2 : version
  const method = head.slice(0, methodEnd)
  if (!isMethod(method)) return BAD_METHOD
  const target = head.slice(methodEnd + 1, targetEnd)
  if (!TARGET.test(target)) return BAD_TARGET
  const fields = HeadFields.read(head, {
    start: lineEnd + 2,
    headersMax: limits.headersMax,
    preservesCase: limits.preserveHeaderCase,
  })
  if (!(fields instanceof HeadFields)) return fields
  const place = placeOf(method, target, fields.host, scheme === 'https')
  if ('code' in place) return place
  return assemble({ method, version, scheme, fields, ...place })
}

export function isMethod(method: string): boolean {
  return METHODS.has(method) || (method.length <= METHOD_LENGTH_MAX && isToken(method))
}

function versionOf(head: string, at: number): HttpVersion | HeadProblem {
  if (head.startsWith(' HTTP/1.1\r\n', at)) return 'HTTP/1.1'
  if (head.startsWith(' HTTP/1.0\r\n', at)) return 'HTTP/1.0'
  return / HTTP\/[0-9]\.[0-9]\r\n/.test(head) ? BAD_VERSION : BAD_LINE
}

export interface RequestPlace {
  readonly path: string
  readonly query: string
  /** undefined: neither Host nor authority. */
  readonly host: string | undefined
}

/** The four forms of RFC 9112 section 3.2. */
function placeOf(
  method: string,
  target: string,
  rawHost: string | undefined,
  isTls: boolean,
): RequestPlace | HeadProblem {
  if (rawHost !== undefined && !isAuthority(rawHost)) return BAD_HOST
  const named = rawHost?.toLowerCase()
  if (method === 'CONNECT') return connectPlace(target, named && withoutRootDot(named))
  const host = named && canonicalAuthority(named, isTls)
  if (target.charCodeAt(0) === SLASH) return splitPath(target, host)
  if (target !== '*') return absolutePlace(target, host, isTls)
  return method === 'OPTIONS' ? { path: '*', query: '', host } : BAD_TARGET
}

function absolutePlace(target: string, host: string | undefined, isTls: boolean): RequestPlace | HeadProblem {
  const [, rawAuthority = '', rest = ''] = ABSOLUTE.exec(target) ?? []
  if (!isAuthority(rawAuthority)) return BAD_TARGET
  const authority = canonicalAuthority(rawAuthority.toLowerCase(), isTls)
  if (host !== undefined && host !== authority) return HOST_DIFFERS
  return splitPath(rest.startsWith('/') ? rest : `/${rest}`, authority)
}

function connectPlace(target: string, host: string | undefined): RequestPlace | HeadProblem {
  if (!isAuthority(target) || !/:[0-9]+$/.test(target)) return BAD_TARGET
  const authority = withoutRootDot(target.toLowerCase())
  // Clients disagree on whether Host repeats the port; anything else would let two authorities travel together.
  if (host !== undefined && host !== authority && host !== authority.slice(0, authority.lastIndexOf(':'))) {
    return HOST_DIFFERS
  }
  return { path: authority, query: '', host: authority }
}

export function splitPath(target: string, host: string | undefined): RequestPlace | HeadProblem {
  const mark = target.indexOf('?')
  const path = normalisedPath(mark < 0 ? target : target.slice(0, mark))
  if (path === undefined) return BAD_PATH
  return { path, query: mark < 0 ? '' : target.slice(mark + 1), host }
}

interface Parts extends RequestPlace {
  readonly method: string
  readonly version: HttpVersion
  readonly scheme: 'http' | 'https'
  readonly fields: HeadFields
}

function assemble(parts: Parts): RequestHead | HeadProblem {
  const { fields, version, method, path, query, scheme, host = '' } = parts
  const is11 = version === 'HTTP/1.1'
  const problem = problemOf(fields, is11)
  if (problem !== undefined) return problem
  const contentLength = fields.bodyLength
  const hasBody = contentLength !== 0
  const headers = new HeaderList(fields.fields)
  headers.wireNames = fields.wireNames
  const request = new HttpRequest({ method, path, query, host, scheme, version, headers })
  if (is11 && !hasBody) request.upgrade = upgradeOf(fields)
  return {
    request,
    contentLength,
    isKeepAlive: (is11 || fields.hasKeepAlive) && !fields.hasClose,
    expectsContinue: hasBody && is11 && fields.expect !== undefined,
    trailerNames: fields.trailerNames,
  }
}

function problemOf(fields: HeadFields, is11: boolean): HeadProblem | undefined {
  if (fields.bodyLength !== 0 && hasTwoTypes(fields.fields)) return SEVERAL_TYPES
  return is11 ? problemOf11(fields) : fields.isChunked ? ENCODING_IN_10 : undefined
}

function problemOf11(fields: HeadFields): HeadProblem | undefined {
  if (fields.host === undefined) return NO_HOST
  return fields.expect === undefined || fields.expect === '100-continue' ? undefined : BAD_EXPECT
}

function upgradeOf(fields: HeadFields): string | undefined {
  const protocol = fields.hasUpgrade ? fields.upgrade?.toLowerCase() : undefined
  return protocol !== undefined && UPGRADE.test(protocol) && !CARRIES_HTTP.test(protocol) ? protocol : undefined
}
