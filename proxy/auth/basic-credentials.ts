// User name and password of the Basic scheme (RFC 7617 section 2), strictly: malformed credentials match no user.
import { isUtf8 } from 'node:buffer'

export interface BasicCredentials {
  readonly name: string
  readonly password: string
}

/** Longer input is not hashed with slow hashes. */
const LENGTH_MAX = 2048
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

/** undefined: not valid credentials. */
export function parseBasicCredentials(base64: string): BasicCredentials | undefined {
  if (base64.length > LENGTH_MAX || !BASE64.test(base64)) return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  if (CONTROL.test(text)) return undefined
  const colon = text.indexOf(':')
  return colon < 1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
