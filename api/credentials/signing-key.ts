// Private keys that sign JSON Web Tokens, as Secrets hold them: PEM. Faults name the rule that a key breaks, never a
// part of it.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

export type SigningAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384'

/** RFC 7518 section 3.3. */
const RSA_BITS_MIN = 2048
/** Of chains in the header `x5c`: what a token endpoint reads in one header of a JWT. */
const CERTIFICATES_MAX = 10

/** Curves of RFC 7518 section 3.4, as OpenSSL names them. */
const CURVES: Readonly<Partial<Record<SigningAlgorithm, string>>> = { ES256: 'prime256v1', ES384: 'secp384r1' }

/** @returns the key, or why it cannot be used */
export function readSigningKey(pem: string, alg: SigningAlgorithm): KeyObject | string {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    // The text of the error could quote the input.
    return 'not an unencrypted private key in PEM'
  }
  const curve = CURVES[alg]
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (curve !== undefined) {
    return key.asymmetricKeyType === 'ec' && namedCurve === curve ? key : `${alg} requires an EC key on ${curve}`
  }
  if (key.asymmetricKeyType !== 'rsa') return `${alg} requires an RSA key`
  return modulusLength >= RSA_BITS_MIN ? key : `the RSA key is shorter than ${RSA_BITS_MIN} bits`
}

/** @returns the chain, that of the key first, or why it cannot be used */
export function readKeyCertificates(pem: string, key: KeyObject): readonly X509Certificate[] | string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length > CERTIFICATES_MAX) return `more than ${CERTIFICATES_MAX} certificates`
  try {
    const chain = blocks.map((block) => new X509Certificate(block))
    const [own] = chain
    if (own === undefined) return 'not a certificate in PEM'
    return own.checkPrivateKey(key) ? chain : 'the certificate is not that of the signing key'
  } catch {
    return 'not a certificate in PEM'
  }
}
