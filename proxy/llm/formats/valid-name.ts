// Names of tools and ids of calls in the characters that vendors accept: 1 to 64 of `[a-zA-Z0-9_-]` in the Converse
// API (data-plane supplement section 3.9).
import { createHash } from 'node:crypto'

const VALID = /^[a-zA-Z0-9_-]{1,64}$/
const HASH_CHARS = 8
const READABLE_CHARS_MAX = 64 - HASH_CHARS - 1

/** The same name for the same text. A name that is rewritten ends in a hash, so that two names never become one. */
export function validName(name: string): string {
  if (VALID.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, READABLE_CHARS_MAX)}_${hash}`
}
