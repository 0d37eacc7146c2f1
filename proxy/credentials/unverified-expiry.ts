// The end of a JWT as the token itself states it: for tokens that another party verifies.
import { parseJson, recordOf } from '#api/json.ts'

/** Claim `exp` in Unix milliseconds, not verified. undefined: not a JWT, or without a usable claim. */
export function unverifiedExpiryMs(token: string): number | undefined {
  const [, payload, signature] = token.split('.', 3)
  if (payload === undefined || signature === undefined) return undefined
  const { exp } = recordOf(parseJson(Buffer.from(payload, 'base64url').toString('utf8')))
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}
