// The subjectAltName text that node:tls and node:crypto give, as typed values.

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
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
