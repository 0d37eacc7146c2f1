// Whether a PEM certificate and a PEM private key can be used, and belong together. The values never enter a message.
import { createPrivateKey, X509Certificate } from 'node:crypto'

export type KeyPairFault = 'noCertificate' | 'noPrivateKey' | 'badCertificate' | 'badPrivateKey' | 'otherPrivateKey'

/** undefined: a server can show the certificate. `certificate`: leaf first. */
export function keyPairFault(
  certificate: string | undefined,
  privateKey: string | undefined,
): KeyPairFault | undefined {
  if (certificate === undefined || !/-----BEGIN CERTIFICATE-----/.test(certificate)) return 'noCertificate'
  if (privateKey === undefined || !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(privateKey)) return 'noPrivateKey'
  const leaf = attempt(() => new X509Certificate(certificate))
  if (leaf === undefined) return 'badCertificate'
  const key = attempt(() => createPrivateKey(privateKey))
  if (key === undefined) return 'badPrivateKey'
  return attempt(() => leaf.checkPrivateKey(key)) === true ? undefined : 'otherPrivateKey'
}

/** node:crypto throws for invalid input of users; here that is a result. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
