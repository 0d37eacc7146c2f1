// Signs the JWT by which the proxy authenticates at a token endpoint (RFC 7523 section 3; data-plane supplement section
// 8.5). Each call needs a new one: its `jti` may be used once.
import { createHash, randomUUID } from 'node:crypto'
import type { KeyObject, X509Certificate } from 'node:crypto'
import { readKeyCertificates, readSigningKey, type SigningAlgorithm } from '#api/credentials/signing-key.ts'

/** `iat` lies back by this many seconds, for clocks that are late. */
const CLOCK_SKEW_S = 10
const LIFETIME_S = 300

export interface AssertionSettings {
  readonly clientId: string
  readonly audience: string
  /** PEM. */
  readonly key: string
  readonly alg: SigningAlgorithm
  readonly kid: string | undefined
  /** PEM, that of the key first. */
  readonly certificate: string | undefined
  readonly certificateHeader: 'x5c' | 'x5t#S256' | undefined
}

/** @returns why the key or the certificate cannot be used, or a function that gives a new JWT each time */
export function assertionSigner(
  settings: AssertionSettings,
  nowMs: () => number = () => Date.now(),
): string | (() => Promise<string>) {
  const key = readSigningKey(settings.key, settings.alg)
  if (typeof key === 'string') return key
  const certificates = certificateFields(settings, key)
  if (typeof certificates === 'string') return certificates
  const { clientId, audience, alg, kid } = settings
  const header = { alg, typ: 'JWT', ...(kid !== undefined && { kid }), ...certificates }
  return async () => {
    const { SignJWT } = await import('jose')
    const nowS = Math.floor(nowMs() / 1000)
    return new SignJWT({ iss: clientId, sub: clientId, aud: audience, jti: randomUUID() })
      .setProtectedHeader(header)
      .setIssuedAt(nowS - CLOCK_SKEW_S)
      .setExpirationTime(nowS + LIFETIME_S)
      .sign(key)
  }
}

function certificateFields(
  { certificate, certificateHeader }: AssertionSettings,
  key: KeyObject,
): string | { x5c?: string[]; 'x5t#S256'?: string } {
  if (certificate === undefined || certificateHeader === undefined) return {}
  const chain = readKeyCertificates(certificate, key)
  if (typeof chain === 'string') return chain
  return certificateHeader === 'x5c'
    ? { x5c: chain.map(({ raw }) => raw.toString('base64')) }
    : { 'x5t#S256': thumbprint(chain) }
}

function thumbprint([own]: readonly X509Certificate[]): string {
  return createHash('sha256')
    .update(own?.raw ?? '')
    .digest('base64url')
}
