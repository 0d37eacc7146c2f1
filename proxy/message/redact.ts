// Removes secrets from log lines and dumps: header names that carry credentials, and texts that quote credentials.

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

const CREDENTIALS_IN_URL = /\b([a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]+@/gi
const BEARER_TOKEN = /\b(bearer|basic)\s+[\w+/=.~-]{8,}/gi

/** Removes common forms of credentials from free text (error messages of libraries). */
export function redactText(text: string): string {
  return text.replace(CREDENTIALS_IN_URL, `$1${REDACTED}@`).replace(BEARER_TOKEN, `$1 ${REDACTED}`)
}
