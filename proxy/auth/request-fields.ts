// Reads, removes and sets one query parameter or cookie. The rest of the query and of the header keeps its
// bytes.
import type { HeaderList } from '../message/headers.ts'

const PLUS = /\+/g

/** The first value of that parameter, decoded; undefined if the parameter is absent. */
export function queryParameter(query: string, name: string): string | undefined {
  if (query === '') return undefined
  for (const part of query.split('&')) {
    const equals = part.indexOf('=')
    const rawName = equals < 0 ? part : part.slice(0, equals)
    if (rawName !== '' && decoded(rawName) === name) return equals < 0 ? '' : decoded(part.slice(equals + 1))
  }
  return undefined
}

/** Removes every parameter of that name, however its name is encoded. */
export function withoutQueryParameter(query: string, name: string): string {
  if (query === '') return query
  return query
    .split('&')
    .filter((part) => decoded(part.split('=', 1)[0] ?? '') !== name)
    .join('&')
}

/** Exactly one parameter of that name, at the end. */
export function withQueryParameter(query: string, name: string, value: string): string {
  const kept = withoutQueryParameter(query, name)
  return `${kept}${kept === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`
}

/** Decoded as form fields are (`+` is a space); text with invalid encoding is returned unchanged. */
function decoded(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replace(PLUS, ' '))
  } catch {
    return text
  }
}

/** The first value of that cookie (RFC 6265 section 5.4), without quotes around it. */
export function cookieValue(headers: HeaderList, name: string): string | undefined {
  for (const pair of cookiePairs(headers)) {
    if (cookieName(pair) !== name) continue
    const value = pair.slice(pair.indexOf('=') + 1).trim()
    return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  }
  return undefined
}

/** Removes every cookie of that name, and the header if no cookie is left. */
export function removeCookie(headers: HeaderList, name: string): void {
  const kept = cookiePairs(headers).filter((pair) => cookieName(pair) !== name)
  if (kept.length === 0) headers.remove('cookie')
  else headers.set('cookie', kept.join('; '))
}

function cookiePairs(headers: HeaderList): string[] {
  return headers
    .getAll('cookie')
    .flatMap((line) => line.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
}

/** undefined: not a pair. */
function cookieName(pair: string): string | undefined {
  const equals = pair.indexOf('=')
  return equals < 0 ? undefined : pair.slice(0, equals).trim()
}
