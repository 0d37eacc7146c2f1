// Claims of a JWT whose signature is not verified: the party that gets the token verifies it.
import { isRecord, parseJson } from '#api/json.ts'

/** undefined: not a signed JWT. */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split('.', 3)
  if (payload === undefined || signature === undefined) return undefined
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'))
  return isRecord(claims) ? claims : undefined
}

/** Claim `exp` in Unix milliseconds. undefined: not a signed JWT, or without a usable claim. */
export function unverifiedExpiryMs(token: string): number | undefined {
  const exp = unverifiedClaims(token)?.['exp']
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}
