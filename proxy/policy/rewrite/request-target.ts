// Changes method, path, query and host of a request. Values that would break the request line are rejected.
import { isAuthority } from '../../message/authority.ts'
import type { HttpRequest } from '../../message/message.ts'

/** Visible ASCII without `#`: the characters of a request target (RFC 9112 section 3.2). */
const TARGET = /^\/[!-"$-~\u0080-\u00FF]*$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

export function isTarget(value: string): boolean {
  return TARGET.test(value)
}

/**
 * `value` is a path with or without query; without one the query of the request stays. False: not a valid target.
 */
export function setTarget(request: HttpRequest, value: string): boolean {
  if (!isTarget(value)) return false
  const mark = value.indexOf('?')
  if (mark < 0) request.path = value
  else {
    request.path = value.slice(0, mark)
    request.query = value.slice(mark + 1)
  }
  return true
}

export function setHost(request: HttpRequest, authority: string): boolean {
  if (!isAuthority(authority)) return false
  request.host = authority.toLowerCase()
  return true
}

export function setMethod(request: HttpRequest, method: string): boolean {
  // CONNECT is a tunnel: no other request can become one, and it cannot become another request.
  if (!TOKEN.test(method) || method === 'CONNECT' || request.method === 'CONNECT') return false
  request.method = method
  return true
}

/**
 * Sets a pseudo-header, or `host`; an undefined or invalid value changes nothing: a request must have it. False: the
 * name is a header field.
 */
export function setRequestPart(request: HttpRequest, name: string, value: string | undefined): boolean {
  switch (name) {
    case ':method':
      if (value !== undefined) setMethod(request, value)
      return true
    case ':path':
      if (value !== undefined) setTarget(request, value)
      return true
    case ':scheme':
      if (value === 'http' || value === 'https') request.scheme = value
      return true
    case ':authority':
    case 'host':
      if (value !== undefined) setHost(request, value)
      return true
    default:
      return name.startsWith(':')
  }
}

/**
 * The path with the matched prefix replaced; joins without doubling or losing a slash. undefined when the prefix is not
 * there (the match was no prefix, or a filter has changed the path since).
 */
export function replacePrefix(path: string, prefix: string | undefined, replacement: string): string | undefined {
  if (prefix === undefined) return undefined
  const cut = prefix === '/' ? 0 : prefix.length
  const rest = path.slice(cut)
  if (cut > 0 && (!path.startsWith(prefix) || (rest !== '' && !rest.startsWith('/')))) return undefined
  const base = replacement.endsWith('/') ? replacement.slice(0, -1) : replacement
  // If the root is replaced by a path, `/` itself stands for nothing.
  const joined = base + (cut === 0 && rest === '/' && base !== '' ? '' : rest)
  return joined.startsWith('/') ? joined : `/${joined}`
}
