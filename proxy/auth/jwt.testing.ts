// Issuers with keys, and their tokens, for tests; not used by the proxy.
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import type { JwtProvider } from '#api/ir/types.gen.ts'

export interface TestIssuer {
  readonly issuer: string
  /** Key set as text. */
  readonly jwks: string
  readonly provider: JwtProvider
  /** A token valid for an hour unless `claims` sets another time; `header` is added to algorithm and `kid`. */
  token(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>
}

export async function testIssuer(issuer: string, alg = 'ES256', kid = `${alg}-key`): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid }] })
  return {
    issuer,
    jwks,
    provider: { issuer, jwks },
    token: (claims, header) =>
      new SignJWT({ iss: issuer, sub: 'someone', exp: Math.floor(Date.now() / 1000) + 3600, ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey),
  }
}
