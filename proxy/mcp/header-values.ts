// Values of the headers of MCP 2026-07-28 that repeat parts of a body: text, or base64 of it.

const ENCODED = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** Visible ASCII, with spaces and tabs inside. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/
export const PARAM_PREFIX = 'mcp-param-'

/** The value for a header: other than visible ASCII is base64 of UTF-8. */
export function encodeHeader(value: string): string {
  return PLAIN.test(value) && !ENCODED.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** undefined: marked as base64, but not valid base64 of UTF-8. */
export function decodeHeader(value: string): string | undefined {
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return value
  if (!BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}
