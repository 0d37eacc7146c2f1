// Names of header fields that carry credentials, and the text that stands for a hidden credential.

export const REDACTED = '<redacted>'

/** Header fields with credentials. Lower case. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
])

/** Those with session ids too: whoever has one can continue the session. */
const SENSITIVE_HEADERS = new Set([...CREDENTIAL_HEADERS, 'mcp-session-id'])

export function isSensitiveHeader(name: string): boolean {
  return SENSITIVE_HEADERS.has(name.toLowerCase())
}
