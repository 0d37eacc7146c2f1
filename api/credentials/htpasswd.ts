// Reads htpasswd text: which user has which kind of hash. A line that cannot be used is left out with a warning that
// contains only its number. Proxy and operator use the same reader: the operator reports in the status what the proxy
// leaves out.

/** How a password is checked against a hash; see proxy/auth/password-hash.ts. */
export type HashKind = 'sha1' | 'md5' | 'bcrypt' | 'crypt' | 'shaCrypt'

export interface PasswordHash {
  readonly kind: HashKind
  /** As written, without the blanks around it. */
  readonly text: string
}

export interface Htpasswd {
  readonly users: ReadonlyMap<string, PasswordHash>
  readonly warnings: readonly string[]
}

/** Rounds double with each step; at 14 one check takes about a second. */
const BCRYPT_COST_MAX = 14
const BCRYPT_COST_MIN = 4
/** One check takes half a second; crypt(3) makes none below the lowest. */
const SHA_ROUNDS_MAX = 100_000
const SHA_ROUNDS_MIN = 1000

const MD5 = /^\$(?:apr1|1)\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}$/
const BCRYPT = /^\$2[abxy]\$(\d\d)\$[./0-9A-Za-z]{53}$/
const SHA1 = /^\{SHA\}[+/0-9A-Za-z]{27}=$/
const CRYPT = /^[./0-9A-Za-z]{13}$/
const SHA_CRYPT = /^\$([56])\$(?:rounds=(\d{1,9})\$)?[./0-9A-Za-z]{0,16}\$([./0-9A-Za-z]+)$/
const SHA_DIGITS: Readonly<Record<string, number>> = { '5': 43, '6': 86 }

/** Of two lines for one user the last one counts. */
export function parseHtpasswd(text: string): Htpasswd {
  const users = new Map<string, PasswordHash>()
  const warnings: string[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const colon = line.indexOf(':')
    const hash = colon < 1 ? 'it is not `name:hash`' : hashOf(line.slice(colon + 1).trim())
    if (typeof hash === 'string') warnings.push(`line ${index + 1} is ignored: ${hash}`)
    else users.set(line.slice(0, colon), hash)
  }
  return { users, warnings }
}

function hashOf(text: string): PasswordHash | string {
  if (MD5.test(text)) return { kind: 'md5', text }
  if (SHA1.test(text)) return { kind: 'sha1', text }
  if (CRYPT.test(text)) return { kind: 'crypt', text }
  const cost = BCRYPT.exec(text)?.[1]
  if (cost === undefined) return shaCryptOf(text)
  return Number(cost) >= BCRYPT_COST_MIN && Number(cost) <= BCRYPT_COST_MAX
    ? { kind: 'bcrypt', text }
    : `the cost of its bcrypt hash is not between ${BCRYPT_COST_MIN} and ${BCRYPT_COST_MAX}`
}

function shaCryptOf(text: string): PasswordHash | string {
  const [, kind = '', rounds, digits = ''] = SHA_CRYPT.exec(text) ?? []
  if (digits.length !== SHA_DIGITS[kind]) {
    return 'its hash is not bcrypt, MD5 (`$apr1$`), SHA-1 (`{SHA}`) or crypt (also `$5$`, `$6$`)'
  }
  return rounds === undefined || (Number(rounds) >= SHA_ROUNDS_MIN && Number(rounds) <= SHA_ROUNDS_MAX)
    ? { kind: 'shaCrypt', text }
    : `the rounds of its crypt hash are not between ${SHA_ROUNDS_MIN} and ${SHA_ROUNDS_MAX}`
}
