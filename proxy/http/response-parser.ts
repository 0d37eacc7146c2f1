// Incremental parser of response heads, as strict as the request side: a backend is not trusted with framing either.
import { HeadBuffer } from './head-buffer.ts'
import { BAD_CONTROL, HeadFields, invalid, type HeadProblem } from './head-fields.ts'
import { type FieldsOrigin, HeaderList } from '../message/headers.ts'

/** How the end of a body is known (RFC 9112 section 6.3). */
export type ResponseFraming = 'None' | 'Length' | 'Chunked' | 'Close'

export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: ResponseFraming
  /** With `Length` only, and above 0. */
  readonly contentLength: number
  readonly isKeepAlive: boolean
  /** The protocol of a 101, lower case. */
  readonly upgrade: string | undefined
  /** What `trailer` announces. */
  readonly trailerNames?: string | undefined
}

export interface ResponseLimits {
  readonly headersMax: number
  readonly headerBytesMax: number
}

/** Offset of the status code in a status line. */
const STATUS_AT = 'HTTP/1.1 '.length
const MEMO_BYTES_MAX = 4096

const BAD_STATUS_LINE = invalid('invalid status line')
const TOO_LARGE: HeadProblem = { code: 'headersTooLarge', detail: 'response header is too large' }
const ENCODING_IN_10 = invalid('transfer-encoding in an HTTP/1.0 response')

export class ResponseParser {
  readonly #buffer = new HeadBuffer()
  readonly #limits: ResponseLimits
  /** The last good head: backends repeat theirs byte for byte, at least within a second. */
  #memoText = ''
  #memo: ResponseHead | undefined = undefined
  #memoOrigin: FieldsOrigin = { fields: [], block: undefined }
  #memoIsHead = false

  constructor(limits: ResponseLimits) {
    this.#limits = limits
  }

  get isIdle(): boolean {
    return this.#buffer.isEmpty
  }

  get next(): number {
    return this.#buffer.next
  }

  /** undefined: all bytes taken, the head is not complete. `isHead`: the request was HEAD. */
  feed(
    buffer: Buffer,
    range: { readonly start: number; readonly end: number },
    asked: { readonly isHead: boolean; readonly preservesCase: boolean },
  ): ResponseHead | HeadProblem | undefined {
    const result = this.#buffer.feed(buffer, range.start, range.end, this.#limits.headerBytesMax)
    if (result === 'Complete') return this.#complete(buffer, asked.isHead, asked.preservesCase)
    if (result === 'More') return undefined
    return result === 'Bad' ? BAD_CONTROL : TOO_LARGE
  }

  #complete(buffer: Buffer, isHead: boolean, preservesCase: boolean): ResponseHead | HeadProblem {
    const text = this.#buffer.head
    if (text === this.#memoText && isHead === this.#memoIsHead && this.#memo !== undefined && !preservesCase) {
      return repeated(this.#memo, this.#memoOrigin)
    }
    if (this.#buffer.hasBadCharacter(buffer)) return BAD_CONTROL
    const head = parseResponseHead(text, { isHead, preservesCase, headersMax: this.#limits.headersMax })
    if ('code' in head || preservesCase || text.length > MEMO_BYTES_MAX) return head
    this.#memoText = text
    this.#memoIsHead = isHead
    this.#memo = head
    this.#memoOrigin = { fields: head.headers.fields.slice(), block: undefined }
    return head
  }
}

/** A head of its own with the same content: filters change the list. */
function repeated(head: ResponseHead, origin: FieldsOrigin): ResponseHead {
  const { status, framing, contentLength, isKeepAlive, upgrade, trailerNames } = head
  const headers = new HeaderList(origin.fields.slice())
  headers.origin = origin
  return { status, headers, framing, contentLength, isKeepAlive, upgrade, trailerNames }
}

/** `head` is free of control characters but HTAB, CR and LF. */
export function parseResponseHead(
  head: string,
  options: { readonly isHead: boolean; readonly preservesCase: boolean; readonly headersMax: number },
): ResponseHead | HeadProblem {
  const lineEnd = head.indexOf('\r')
  const status = statusOf(head, lineEnd)
  if (status === undefined) return BAD_STATUS_LINE
  const is11 = head.charCodeAt('HTTP/1.'.length) === ONE
  const { headersMax, preservesCase } = options
  const fields = HeadFields.read(head, { start: lineEnd + 2, headersMax, preservesCase })
  if (!(fields instanceof HeadFields)) return fields
  if (fields.isChunked && !is11) return ENCODING_IN_10
  const headers = new HeaderList(fields.fields)
  headers.wireNames = fields.wireNames
  const framing = framingOf(status, options.isHead, fields)
  return {
    status,
    headers,
    framing,
    contentLength: fields.contentLength ?? 0,
    isKeepAlive: (is11 || fields.hasKeepAlive) && !fields.hasClose && framing !== 'Close',
    upgrade: status === 101 ? switchedTo(fields) : undefined,
    trailerNames: fields.trailerNames,
  }
}

const ZERO = 48
const ONE = 49
const SPACE = 32

/** `HTTP/1.x NNN` and then the end of the line or a space and a reason (RFC 9112 section 4). */
function statusOf(head: string, lineEnd: number): number | undefined {
  if (head.indexOf('\n') !== lineEnd + 1) return undefined
  if (!head.startsWith('HTTP/1.1 ') && !head.startsWith('HTTP/1.0 ')) return undefined
  const after = STATUS_AT + 3
  if (lineEnd < after || (lineEnd > after && head.charCodeAt(after) !== SPACE)) return undefined
  let status = 0
  for (let at = STATUS_AT; at < after; at++) {
    const digit = head.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    status = status * 10 + digit
  }
  return status < 100 ? undefined : status
}

function switchedTo(fields: HeadFields): string | undefined {
  return fields.hasUpgrade ? fields.upgrade?.toLowerCase() : undefined
}

function framingOf(status: number, isHead: boolean, fields: HeadFields): ResponseFraming {
  if (isHead || status < 200 || status === 204 || status === 304) return 'None'
  if (fields.isChunked) return 'Chunked'
  if (fields.contentLength === undefined) return 'Close'
  return fields.contentLength === 0 ? 'None' : 'Length'
}
