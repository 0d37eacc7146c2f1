// Converts JSON Web Key Sets (RFC 7517) to keys that verify signatures. Unusable keys are ignored with a warning;
// the algorithms of a key come from its type and its own `alg`, never from a token.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { isRecord, parseJson } from '#api/json.ts'

export interface VerificationKey {
  readonly kid: string
  readonly key: KeyObject
  readonly algorithms: readonly string[]
}

export interface KeySet {
  readonly keys: readonly VerificationKey[]
  /** Ignored keys with the reason; no key material. */
  readonly warnings: readonly string[]
}

/** Key sets of identity providers have a handful of keys. */
const KEYS_MAX = 256
/** RFC 7518 section 3.3. */
const RSA_BITS_MIN = 2048

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
/** By `kty` and, for curves, `crv`: RFC 7518 section 3.1 without HMAC, which no public key can verify; RFC 8037. */
const ALGORITHMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['RSA', RSA],
  ['EC P-256', ['ES256']],
  ['EC P-384', ['ES384']],
  ['EC P-521', ['ES512']],
  ['OKP Ed25519', ['EdDSA', 'Ed25519']],
])
/** The members that are copied from a key, so that private members never are. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e']

type Jwk = Readonly<Record<string, unknown>>

/** For a provider without a usable key. */
export const NO_USABLE_KEY = 'no usable key: every token is rejected'

export function parseKeySet(text: string): KeySet {
  const keySet = parseJson(text)
  const found = isRecord(keySet) ? keySet['keys'] : undefined
  if (!Array.isArray(found)) return { keys: [], warnings: ['the key set is not JSON with a list `keys`'] }
  const members: readonly unknown[] = found
  const keys: VerificationKey[] = []
  const warnings: string[] = []
  for (const [index, member] of members.slice(0, KEYS_MAX).entries()) {
    const key = keyOf(member)
    if (typeof key === 'string') warnings.push(`key ${index} of the key set is not used: ${key}`)
    else if (key !== undefined) keys.push(key)
  }
  if (members.length > KEYS_MAX) warnings.push(`only the first ${KEYS_MAX} keys of the key set are used`)
  return { keys, warnings }
}

/** A string is the reason why the key is ignored; undefined: not a key for signatures, ignored without a warning. */
function keyOf(member: unknown): VerificationKey | string | undefined {
  if (!isRecord(member)) return 'it is not an object'
  if (!isForSignatures(member)) return undefined
  const { kid } = member
  if (typeof kid !== 'string' || kid === '') return 'it has no `kid`'
  const algorithms = algorithmsOf(member)
  if (typeof algorithms === 'string') return algorithms
  const key = publicKey(member)
  return typeof key === 'string' ? key : { kid, key, algorithms }
}

function algorithmsOf({ kty, crv, alg }: Jwk): readonly string[] | string {
  const all = ALGORITHMS.get(kty === 'RSA' ? 'RSA' : `${String(kty)} ${String(crv)}`)
  if (all === undefined) return 'only RSA, EC with P-256, P-384 or P-521, and Ed25519 keys are supported'
  const algorithms = alg === undefined ? all : all.filter((name) => name === alg)
  return algorithms.length === 0 ? 'its `alg` does not match its key type' : algorithms
}

function isForSignatures({ use, key_ops: operations }: Jwk): boolean {
  if (use !== undefined) return use === 'sig'
  return !Array.isArray(operations) || operations.includes('verify')
}

function publicKey(member: Jwk): KeyObject | string {
  const jwk = Object.fromEntries(PUBLIC_MEMBERS.map((name) => [name, member[name]]))
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const { modulusLength = RSA_BITS_MIN } = key.asymmetricKeyDetails ?? {}
    return modulusLength < RSA_BITS_MIN ? `an RSA key needs ${RSA_BITS_MIN} bits` : key
  } catch {
    return 'its members are not a valid public key'
  }
}
