// Keeps secrets out of log lines and dumps: header names that carry credentials, and texts of others that quote some.

export const REDACTED = '<redacted>'

/** Header fields whose values are credentials or sessions. Lower case. */
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

const CREDENTIALS_IN_URL = /\b([a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]+@/gi
const BEARER_TOKEN = /\b(bearer|basic)\s+[\w+/=.~-]{8,}/gi

/** Free text (error messages of libraries) without the credentials that commonly appear in it. */
export function redactText(text: string): string {
  return text.replace(CREDENTIALS_IN_URL, `$1${REDACTED}@`).replace(BEARER_TOKEN, `$1 ${REDACTED}`)
}
