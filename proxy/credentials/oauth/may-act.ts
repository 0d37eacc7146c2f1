// Whether the subject of a token permits the party that acts for it (RFC 8693 section 4.4). Claims are not verified
// here: the token endpoint that gets both tokens verifies them.
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '#api/json.ts'
import { unverifiedClaims } from '../unverified-claims.ts'

/** True if every member of `may_act` equals the claim of the actor, or is a list that contains it. */
export function mayAct(subject: string, actor: string): boolean {
  const permitted = unverifiedClaims(subject)?.['may_act']
  const claims = unverifiedClaims(actor)
  if (!isRecord(permitted) || claims === undefined) return false
  const members = Object.entries(permitted)
  return (
    members.length > 0 && members.every(([name, value]) => Object.hasOwn(claims, name) && matches(value, claims[name]))
  )
}

function matches(permitted: unknown, claim: unknown): boolean {
  if (isDeepStrictEqual(permitted, claim)) return true
  return Array.isArray(permitted) && permitted.some((one) => isDeepStrictEqual(one, claim))
}
