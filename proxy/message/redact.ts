// Removes texts that quote credentials from log lines.
import { REDACTED } from '#api/credentials/sensitive-headers.ts'

const CREDENTIALS_IN_URL = /\b([a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]+@/gi
const BEARER_TOKEN = /\b(bearer|basic)\s+[\w+/=.~-]{8,}/gi

/** Removes common forms of credentials from free text (error messages of libraries). */
export function redactText(text: string): string {
  return text.replace(CREDENTIALS_IN_URL, `$1${REDACTED}@`).replace(BEARER_TOKEN, `$1 ${REDACTED}`)
}
