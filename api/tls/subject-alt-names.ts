// The subjectAltName text of node:tls and node:crypto as typed values, and whether it contains an expected name.
import { isIP } from 'node:net'
import { parseJson } from '../json.ts'

export type AltNameType = 'DNS' | 'URI' | 'IP Address' | 'email'

export interface AltName {
  readonly type: AltNameType
  readonly value: string
}

/** `DNS:a, URI:"spiffe://x, y", IP Address:10.0.0.1`: values that hold separators come as JSON strings. */
export function subjectAltNames(text: string | undefined): AltName[] {
  const names: AltName[] = []
  for (const [, type = '', quoted, bare = ''] of (text ?? '').matchAll(ENTRY)) {
    const value = quoted === undefined ? bare : unquoted(quoted)
    if (value !== undefined && isKnown(type)) names.push({ type, value })
  }
  return names
}

/** An entry: its type, then a JSON string, or text up to the next separator. */
const ENTRY = /(?:^|, )([^:,]+):(?:("(?:[^"\\]|\\.)*")|(.*?))(?=, |$)/g

function isKnown(type: string): type is AltNameType {
  return type === 'DNS' || type === 'URI' || type === 'IP Address' || type === 'email'
}

function unquoted(text: string): string | undefined {
  const value = parseJson(text)
  return typeof value === 'string' ? value : undefined
}

/** The subject's common name does not count. */
export function bearsOneOf(names: readonly AltName[], wanted: readonly string[]): boolean {
  return wanted.some((one) => names.some((name) => isSame(name, one)))
}

function isSame({ type, value }: AltName, wanted: string): boolean {
  if (type === 'URI') return value === wanted
  if (type === 'IP Address') return isIP(wanted) !== 0 && value.toLowerCase() === wanted.toLowerCase()
  return type === 'DNS' && isIP(wanted) === 0 && coversName(value.toLowerCase(), wanted.toLowerCase())
}

/** A wildcard stands for exactly the first label (RFC 6125 section 6.4.3). */
function coversName(pattern: string, name: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === name
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot) === pattern.slice(1)
}
