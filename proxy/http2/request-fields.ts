// The header block of a request, as node:http2 hands it over, into a request of the proxy. Refuses what is malformed
// (RFC 9113 section 8); must not pass on anything that an HTTP/1.1 backend could take for framing.
import { fieldName, FieldKind } from '../message/field-name.ts'
import { BAD_VALUE } from '../message/head-text.ts'
import { hasTwoTypes, type HeadProblem, invalid, joined, SEVERAL_TYPES } from '../http/head-fields.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import { canonicalAuthority, isAuthority, withoutRootDot } from '../message/authority.ts'
import { KEY_FIELD, WEBSOCKET, webSocketKey } from '../message/websocket.ts'
import { isMethod, type RequestPlace, splitPath, TARGET } from '../http/request-parser.ts'

export interface RequestFields {
  readonly request: HttpRequest
  /** As announced by content-length. */
  readonly contentLength: number | undefined
  readonly expectsContinue: boolean
  /** What `trailer` announces. */
  readonly trailerNames: string | undefined
}

const COLON = 0x3a
/** RFC 9113 section 6.5.2: what a field counts besides its name and value. */
const FIELD_OVERHEAD_BYTES = 32
const DIGITS = /^[0-9]{1,15}$/
const WITH_PORT = /:[0-9]{1,5}$/
const OUTER_SPACE = /^[ \t]|[ \t]$/

const BAD_NAME = invalid('invalid header name')
const BAD_FIELD_VALUE = invalid('invalid header value')
const BAD_PSEUDO = invalid('unknown, repeated, late or missing pseudo-header field')
const BAD_CONNECTION_FIELD = invalid('connection-specific header field')
const BAD_LENGTH = invalid('invalid content-length')
const BAD_PLACE = invalid('invalid :path, :authority or :scheme')
const HOST_DIFFERS = invalid('host differs from :authority')
const BAD_EXPECT: HeadProblem = {
  code: 'expectationFailed',
  detail: 'unsupported Expect value: only 100-continue is supported',
}
const UNKNOWN_PROTOCOL: HeadProblem = {
  code: 'unsupportedProtocol',
  detail: 'unsupported :protocol: only websocket is supported',
}
const TOO_LARGE: HeadProblem = { code: 'headersTooLarge', detail: 'header list is too large' }

/** `raw`: name, value, name, value, … in wire order. */
export function readRequestFields(
  raw: readonly string[],
  options: { readonly isTls: boolean; readonly headerBytesMax: number },
): RequestFields | HeadProblem {
  const reader = new Reader()
  let bytes = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    bytes += name.length + value.length + FIELD_OVERHEAD_BYTES
    if (bytes > options.headerBytesMax) return TOO_LARGE
    if (BAD_VALUE.test(value) || OUTER_SPACE.test(value)) return BAD_FIELD_VALUE
    const problem = name.charCodeAt(0) === COLON ? reader.pseudo(name, value) : reader.field(name, value)
    if (problem !== undefined) return problem
  }
  return reader.finish(options.isTls ? 'https' : 'http')
}

class Reader {
  readonly #fields: string[] = []
  readonly #pseudo: { [name in Pseudo]?: string } = {}
  #hasFields = false
  #host: string | undefined = undefined
  #cookie: string | undefined = undefined
  #length: number | undefined = undefined
  #expect: string | undefined = undefined
  #hasTrailers = false
  #trailerNames: string | undefined = undefined

  pseudo(name: string, value: string): HeadProblem | undefined {
    const key = PSEUDO.get(name)
    if (key === undefined || this.#hasFields || this.#pseudo[key] !== undefined) return BAD_PSEUDO
    this.#pseudo[key] = value
    return undefined
  }

  field(raw: string, value: string): HeadProblem | undefined {
    this.#hasFields = true
    const name = fieldName(raw)
    if (name === undefined || name.lower !== raw) return BAD_NAME
    if (name.kind !== FieldKind.Ordinary) return this.#special(raw, name.kind, value)
    // Clients may split it; backends that speak HTTP/1.1 must see one field (RFC 9113 section 8.2.3).
    if (raw === 'cookie') this.#cookie = this.#cookie === undefined ? value : `${this.#cookie}; ${value}`
    else this.#fields.push(name.lower, value)
    return undefined
  }

  finish(scheme: 'http' | 'https'): RequestFields | HeadProblem {
    const place = this.#place(scheme === 'https')
    if ('code' in place) return place
    const problem = this.#problem()
    if (problem !== undefined) return problem
    const { host = '', path, query } = place
    if (this.#cookie !== undefined) this.#fields.push('cookie', this.#cookie)
    if (this.#hasTrailers) this.#fields.push('te', 'trailers')
    const headers = new HeaderList(this.#fields)
    const { method = '', protocol } = this.#pseudo
    const isSwitch = protocol !== undefined
    const shape = { path, query, host, scheme, version: 'HTTP/2', headers } as const
    const request = new HttpRequest({ ...shape, method: isSwitch ? 'GET' : method })
    if (isSwitch) switchTo(request, WEBSOCKET)
    return {
      request,
      contentLength: this.#length,
      expectsContinue: this.#expect !== undefined,
      trailerNames: this.#trailerNames,
    }
  }

  #problem(): HeadProblem | undefined {
    if (this.#expect !== undefined && this.#expect !== '100-continue') return BAD_EXPECT
    if (this.#pseudo.protocol !== undefined && this.#length !== undefined) return BAD_LENGTH
    return hasTwoTypes(this.#fields) ? SEVERAL_TYPES : undefined
  }

  #special(name: string, kind: FieldKind, value: string): HeadProblem | undefined {
    if (kind === FieldKind.Host) {
      if (this.#host !== undefined) return HOST_DIFFERS
      this.#host = value
      return undefined
    }
    if (kind === FieldKind.ContentLength) return this.#takeLength(value)
    if (kind === FieldKind.Expect) {
      this.#expect = value.toLowerCase()
      return undefined
    }
    if (kind === FieldKind.Te) {
      this.#hasTrailers = true
      return value.toLowerCase() === 'trailers' ? undefined : BAD_CONNECTION_FIELD
    }
    if (kind === FieldKind.Trailer) {
      this.#trailerNames = joined(this.#trailerNames, value)
      return undefined
    }
    return name === DROPPED ? undefined : BAD_CONNECTION_FIELD
  }

  #takeLength(value: string): HeadProblem | undefined {
    if (this.#length !== undefined || !DIGITS.test(value)) return BAD_LENGTH
    this.#length = Number(value)
    this.#fields.push('content-length', value)
    return undefined
  }

  #place(isTls: boolean): RequestPlace | HeadProblem {
    const { method, protocol, authority = this.#host } = this.#pseudo
    if (method === undefined || !isMethod(method)) return BAD_PSEUDO
    if (authority === undefined || !isAuthority(authority)) return BAD_PLACE
    const spelled = method === 'CONNECT' && protocol === undefined ? withoutRootDot : canonicalAuthority
    const host = spelled(authority.toLowerCase(), isTls)
    if (this.#host !== undefined && spelled(this.#host.toLowerCase(), isTls) !== host) return HOST_DIFFERS
    if (protocol !== undefined) return this.#switchPlace(method, protocol, host)
    return method === 'CONNECT' ? this.#connectPlace(host) : this.#pathPlace(method, host)
  }

  /** RFC 8441 section 4: CONNECT with a path. */
  #switchPlace(method: string, protocol: string, host: string): RequestPlace | HeadProblem {
    if (method !== 'CONNECT') return BAD_PSEUDO
    return protocol.toLowerCase() === WEBSOCKET ? this.#pathPlace(method, host) : UNKNOWN_PROTOCOL
  }

  /** RFC 9113 section 8.5. */
  #connectPlace(host: string): RequestPlace | HeadProblem {
    const { scheme, path } = this.#pseudo
    if (scheme !== undefined || path !== undefined) return BAD_PSEUDO
    return WITH_PORT.test(host) ? { path: host, query: '', host } : BAD_PLACE
  }

  #pathPlace(method: string, host: string): RequestPlace | HeadProblem {
    const { scheme, path } = this.#pseudo
    if (path === undefined || (scheme !== 'http' && scheme !== 'https')) return BAD_PSEUDO
    if (path === '*' && method === 'OPTIONS') return { path, query: '', host }
    return path.startsWith('/') && TARGET.test(path) ? splitPath(path, host) : BAD_PLACE
  }
}

type Pseudo = 'method' | 'scheme' | 'authority' | 'path' | 'protocol'

const PSEUDO = new Map<string, Pseudo>([
  [':method', 'method'],
  [':scheme', 'scheme'],
  [':authority', 'authority'],
  [':path', 'path'],
  [':protocol', 'protocol'],
])

/** As an HTTP/1.1 client would ask for it, so that routes, policies and backends know one form only. */
function switchTo(request: HttpRequest, protocol: string): void {
  request.upgrade = protocol
  request.headers.set(KEY_FIELD, webSocketKey())
}

/** Meant for one hop, but not forbidden by RFC 9113 section 8.2.2. */
const DROPPED = 'proxy-authenticate'
