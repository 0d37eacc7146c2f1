// Whether a PEM certificate is that of an authority whose key the proxy can sign with.
// The value never enters a message.
import { X509Certificate } from 'node:crypto'

export type AuthorityFault = 'noAuthority' | 'otherKey'

/** Keys that the proxy signs with. */
const SIGNING_KEYS: ReadonlySet<string | undefined> = new Set(['rsa', 'ec', 'ed25519'])

/** undefined: it can sign certificates. */
export function authorityFault(certificate: string): AuthorityFault | undefined {
  const authority = parsed(certificate)
  if (authority?.ca !== true) return 'noAuthority'
  return SIGNING_KEYS.has(authority.publicKey.asymmetricKeyType) ? undefined : 'otherKey'
}

/** node:crypto throws for invalid input of users; here that is a result. */
function parsed(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate)
  } catch {
    return undefined
  }
}
