// Names of header fields that carry credentials, and the text that stands for a hidden credential.

export const REDACTED = '<redacted>'

/** Header fields with credentials or session ids. Lower case. */
const SENSITIVE_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
  'mcp-session-id',
])

export function isSensitiveHeader(name: string): boolean {
  return SENSITIVE_HEADERS.has(name.toLowerCase())
}
