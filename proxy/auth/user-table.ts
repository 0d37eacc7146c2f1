// Users of one htpasswd text. Results are remembered by a keyed digest of name and password, so that a client
// that sends its credentials with every request pays for the hash once.
import { hash, randomBytes } from 'node:crypto'
import { parseHtpasswd, type PasswordHash } from '#api/credentials/htpasswd.ts'
import { BoundedCache } from './bounded-cache.ts'
import { NOT_CHECKED, PasswordChecker, type PasswordResult } from './password-checker.ts'
import { isPasswordOf } from './password-hash.ts'

/** Valid and invalid credentials are remembered separately: guesses must not evict valid ones. */
const REMEMBERED = { entriesMax: 4096, weightMax: 4096 }

/**
 * Keys of this thread's digests, so that digests reveal nothing without them. 64 bytes fill one block of
 * SHA-256.
 */
const INNER_KEY = randomBytes(32).toString('hex')
const OUTER_KEY = randomBytes(32).toString('hex')

/** Takes as long to check as a real hash; see `check`. */
const DECOY: PasswordHash = { kind: 'sha1', text: `{SHA}${'A'.repeat(27)}=` }

const threadChecker = new PasswordChecker()

export class UserTable {
  /** Ignored lines with the reason; no user, no hash. */
  readonly warnings: readonly string[]
  readonly #users: ReadonlyMap<string, PasswordHash>
  /** Checked for unknown users, so that the response time does not reveal which users exist. */
  readonly #decoy: PasswordHash
  readonly #checker: Pick<PasswordChecker, 'check'>
  readonly #right = new BoundedCache<true>(REMEMBERED)
  readonly #wrong = new BoundedCache<true>(REMEMBERED)
  readonly #pending = new Map<string, Promise<PasswordResult>>()

  /** `text` undefined: the secret is missing. */
  constructor(text: string | undefined, checker: Pick<PasswordChecker, 'check'> = threadChecker) {
    const { users, warnings } = parseHtpasswd(text ?? '')
    this.#users = users
    this.#decoy = [...users.values()].find(({ kind }) => kind !== 'sha1') ?? DECOY
    this.#checker = checker
    const all = text === undefined ? ['its secret is missing'] : [...warnings]
    if (users.size === 0) all.push('no users: all credentials are rejected')
    this.warnings = all
  }

  get size(): number {
    return this.#users.size
  }

  /** Synchronous for remembered credentials and for SHA-1. */
  check(name: string, password: string): PasswordResult | Promise<PasswordResult> {
    const digest = keyedDigest(`${name}\0${password}`)
    if (this.#right.get(digest) !== undefined) return true
    if (this.#wrong.get(digest) !== undefined) return false
    const known = this.#users.get(name)
    const expected = known ?? this.#decoy
    if (expected.kind === 'sha1') return this.#remember(digest, isPasswordOf(password, expected) && known !== undefined)
    const running = this.#pending.get(digest)
    if (running !== undefined) return running
    const result = this.#ask({ digest, password, expected, isKnown: known !== undefined })
    this.#pending.set(digest, result)
    return result
  }

  async #ask(question: {
    digest: string
    password: string
    expected: PasswordHash
    isKnown: boolean
  }): Promise<PasswordResult> {
    const { digest, password, expected, isKnown } = question
    try {
      const result = await this.#checker.check(password, expected)
      return result === NOT_CHECKED ? result : this.#remember(digest, result && isKnown)
    } finally {
      this.#pending.delete(digest)
    }
  }

  #remember(digest: string, isRight: boolean): boolean {
    ;(isRight ? this.#right : this.#wrong).set(digest, true)
    return isRight
  }
}

/** Nested and keyed as HMAC is; `createHmac` takes ten times as long (bench.ts). */
function keyedDigest(text: string): string {
  return hash('sha256', OUTER_KEY + hash('sha256', INNER_KEY + text, 'hex'), 'binary')
}
