// A fetched key set, checked and written anew: only public members stay, so that a server which publishes private ones
// by mistake does not have them spread. Pure.
import { isRecord, parseJson } from '#api/json.ts'

export type KeySetOutcome = { readonly jwks: string } | { readonly problem: string }

/** RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2: what belongs to a public key. */
const MEMBERS = ['kty', 'use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e', 'x5c', 'x5t', 'x5t#S256'] as const

export function keySetOf(text: string): KeySetOutcome {
  const value = parseJson(text)
  if (!isRecord(value) || !Array.isArray(value['keys'])) {
    return { problem: 'the answer is not a JSON Web Key Set, {"keys": [...]}' }
  }
  const keys: unknown[] = value['keys']
  if (!keys.every(isKey)) return { problem: 'the answer holds a key without `kty`' }
  return { jwks: JSON.stringify({ keys: keys.map(publicPart) }) }
}

function isKey(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && typeof value['kty'] === 'string'
}

function publicPart(key: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const part: Record<string, unknown> = {}
  for (const name of MEMBERS) if (Object.hasOwn(key, name)) part[name] = key[name]
  return part
}
