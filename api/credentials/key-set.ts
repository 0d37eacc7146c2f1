// JSON Web Key Sets (RFC 7517) reduced to their public members, so that private ones which a server or a user put there
// by mistake are not delivered, dumped or stored. Pure.
import { isRecord, parseJson } from '../json.ts'

export interface PublicKeySet {
  /** The key set as text, with public members only. */
  readonly jwks: string
  /** What was removed, one sentence a key; no key material. */
  readonly removed: readonly RemovedMembers[]
}

export interface RemovedMembers {
  /** Of the key in the set. */
  readonly index: number
  /** A symmetric key has no public members: everyone with the key can sign tokens. */
  readonly isSymmetric: boolean
  /** Continues the text after the path of the key set. */
  readonly message: string
}

export type KeySetOutcome = PublicKeySet | { readonly problem: string }

type Jwk = Readonly<Record<string, unknown>>

/** RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2: what belongs to a public key. */
const MEMBERS = ['kty', 'use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e', 'x5c', 'x5t', 'x5t#S256'] as const
/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

/** Every key needs a `kty`. */
export function keySetOf(text: string): KeySetOutcome {
  const outcome = publicKeySet(text)
  if (outcome === undefined) return { problem: 'the response is not a JSON Web Key Set, {"keys": [...]}' }
  return outcome.isComplete ? outcome : { problem: 'the response contains a key without `kty`' }
}

/** undefined: the text is not a key set. Members of `keys` without a `kty` are removed, and `isComplete` is false. */
export function publicKeySet(text: string): (PublicKeySet & { readonly isComplete: boolean }) | undefined {
  const value = parseJson(text)
  if (!isRecord(value) || !Array.isArray(value['keys'])) return undefined
  const members: readonly unknown[] = value['keys']
  const removed: RemovedMembers[] = []
  const keys: Jwk[] = []
  for (const [index, member] of members.entries()) {
    if (!isKey(member)) continue
    const found = PRIVATE_MEMBERS.filter((name) => Object.hasOwn(member, name))
    if (found.length > 0) removed.push(removedOf(member, found, index))
    keys.push(publicPart(member))
  }
  return { jwks: JSON.stringify({ keys }), removed, isComplete: keys.length === members.length }
}

function removedOf({ kty }: Jwk, found: readonly string[], index: number): RemovedMembers {
  const isSymmetric = kty === 'oct'
  const names = found.map((name) => `\`${name}\``).join(', ')
  const message = isSymmetric
    ? `key ${index} is a symmetric key (\`kty: oct\`), which is not supported: remove it and treat it as compromised`
    : `key ${index} contains private members (${names}), which are ignored: remove them and replace the key`
  return { index, isSymmetric, message }
}

function isKey(value: unknown): value is Jwk {
  return isRecord(value) && typeof value['kty'] === 'string'
}

function publicPart(key: Jwk): Jwk {
  const part: Record<string, unknown> = {}
  for (const name of MEMBERS) if (Object.hasOwn(key, name)) part[name] = key[name]
  return part
}
