// A request that a page of the web UI sends through a listener of this proxy: reads and checks its description. Pure.
import { isRecord, type JsonRecord, parseJson } from '#api/json.ts'
import type { Bind } from '#api/ir/types.gen.ts'
import { isAuthority } from '../message/authority.ts'
import { isMethod } from '../http/request-parser.ts'

export interface PageRequest {
  readonly port: number
  readonly isTls: boolean
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Field Host, and the server name of TLS. */
  readonly host: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

interface Problem {
  readonly problem: string
}

const HEADERS_MAX = 64
const HEADER_CHARACTERS_MAX = 8192
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Visible ASCII, spaces and tabs. */
const VALUE = /^[\t\x20-\x7e]*$/
/** Belong to the connection, or follow from the body. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** `binds`: of the configuration in force. Only their ports can be reached. */
export function pageRequestOf(text: string, binds: readonly Bind[]): PageRequest | Problem {
  const parsed = parseJson(text)
  if (!isRecord(parsed)) return { problem: 'the body must be a JSON object' }
  const content = contentOf(parsed)
  if ('problem' in content) return content
  const place = placeOf(parsed, binds)
  if ('problem' in place) return place
  const fields = fieldsOf(parsed['headers'] ?? [])
  if ('problem' in fields) return fields
  const host = fields.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? place.host
  if (!isAuthority(host)) return { problem: 'headers: host must be a host name with an optional port' }
  const headers = fields.filter(([name]) => name.toLowerCase() !== 'host')
  return { ...place, ...content, host, headers }
}

function contentOf({ method = 'GET', body = '' }: JsonRecord): Pick<PageRequest, 'method' | 'body'> | Problem {
  if (typeof method !== 'string' || !isMethod(method) || method === 'CONNECT') {
    return { problem: 'method: must be a method of HTTP other than CONNECT' }
  }
  return typeof body === 'string' ? { method, body } : { problem: 'body: must be a text' }
}

type Place = Pick<PageRequest, 'port' | 'isTls' | 'target' | 'host'>

/** A listener of this proxy with HTTP, and no other port of the machine. */
function placeOf({ url: address, port }: JsonRecord, binds: readonly Bind[]): Place | Problem {
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return { problem: 'url: must be a URL with http or https' }
  const wanted = port ?? portOfUrl(url)
  const bind = binds.find((one) => one.port === wanted && one.mode !== 'Internal' && one.protocol !== 'TCP')
  if (bind === undefined) return { problem: 'port: must be that of a listener of this proxy' }
  return { port: bind.port, isTls: bind.protocol === 'TLS', target: url.pathname + url.search, host: url.host }
}

/** That of the scheme, if the URL has none. */
export function portOfUrl({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

function fieldsOf(value: unknown): readonly (readonly [string, string])[] | Problem {
  if (!Array.isArray(value) || value.length > HEADERS_MAX) return { problem: `headers: at most ${HEADERS_MAX}` }
  const fields: [string, string][] = []
  for (const [index, pair] of value.entries()) {
    const [name, text]: unknown[] = Array.isArray(pair) ? pair : []
    if (typeof name !== 'string' || typeof text !== 'string' || !NAME.test(name) || !VALUE.test(text)) {
      return { problem: `headers[${index}]: must be a name and a value` }
    }
    if (text.length > HEADER_CHARACTERS_MAX)
      return { problem: `headers[${index}]: must not be longer than ${HEADER_CHARACTERS_MAX}` }
    if (FRAMING.has(name.toLowerCase())) return { problem: `headers[${index}]: ${name} is set by the proxy` }
    fields.push([name, text])
  }
  return fields
}
