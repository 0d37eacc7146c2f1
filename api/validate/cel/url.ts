// URLs in CEL rules, parsed as the API server does: an absolute URL or an absolute path, no fragment.
import type { Environment } from '@marcbachmann/cel-js'

const LENGTH_MAX = 100_000
const ABSOLUTE = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/
const HOST =
  /^(?:\[[0-9A-Fa-f:.]+(?:%25[A-Za-z0-9._~-]+)?\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=<>"]|[\u0080-\uffff]|%[89A-Fa-f][0-9A-Fa-f])*)$/
const USER = /^(?:[A-Za-z0-9\-._:~!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/

export class Url {
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly path: string
  readonly query: string

  private constructor(
    text: string,
    parts: { scheme: string; host: string; port: string; path: string; query: string },
  ) {
    this.text = text
    this.scheme = parts.scheme
    this.host = parts.host
    this.port = parts.port
    this.path = parts.path
    this.query = parts.query
  }

  /** Absent: not a URL. */
  static parse(text: string): Url | undefined {
    if (text === '' || text.length > LENGTH_MAX || hasControl(text)) return undefined
    const [scheme = '', authority = '', path = '', query = ''] = groups(ABSOLUTE, text)
    const place = authorityOf(authority)
    if (place === undefined || /%(?![0-9A-Fa-f]{2})/.test(path)) return undefined
    if (scheme === '' && !text.startsWith('/')) return undefined
    return new Url(text, { scheme: scheme.toLowerCase(), ...place, path, query })
  }
}

function authorityOf(authority: string): { host: string; port: string } | undefined {
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(at, 0))
  const [host = '', port = ''] = groups(/^(.*?)(?::(\d*))?$/, authority.slice(at + 1))
  return HOST.test(host) && USER.test(user) ? { host, port } : undefined
}

export function registerUrls(environment: Environment): void {
  environment
    .registerType('URL', Url)
    .registerOperator('URL == URL', (left: Url, right: Url) => left.text === right.text)
    .registerFunction('isURL(string): bool', (text: string) => Url.parse(text) !== undefined)
    .registerFunction('url(string): URL', (text: string) => {
      const url = Url.parse(text)
      if (url === undefined) throw new RangeError('not a URL')
      return url
    })
    .registerFunction('URL.getScheme(): string', (url: Url) => url.scheme)
    .registerFunction('URL.getHost(): string', (url: Url) => (url.port === '' ? url.host : `${url.host}:${url.port}`))
    .registerFunction('URL.getHostname(): string', (url: Url) => url.host.replace(/^\[(.*)\]$/, '$1'))
    .registerFunction('URL.getPort(): string', (url: Url) => url.port)
    .registerFunction('URL.getEscapedPath(): string', (url: Url) => encodeURI(url.path).replaceAll('%25', '%'))
    .registerFunction('URL.getQuery(): map<string, list<string>>', (url: Url) => queryOf(url.query))
}

/** What the groups of a pattern matched; empty texts for groups without a match. */
function groups(pattern: RegExp, text: string): string[] {
  return (pattern.exec(text) ?? []).slice(1).map((group: string | undefined) => group ?? '')
}

function queryOf(text: string): Map<string, string[]> {
  const result = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) result.set(name, [...(result.get(name) ?? []), value])
  return result
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x7f) return true
  }
  return false
}
