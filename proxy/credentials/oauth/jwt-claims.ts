// Claims of a JWT whose signature is not verified: the token endpoint that gets it verifies it.
import { isRecord, parseJson } from '#api/json.ts'

/** undefined: not a signed JWT. */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split('.', 3)
  if (payload === undefined || signature === undefined) return undefined
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'))
  return isRecord(claims) ? claims : undefined
}
