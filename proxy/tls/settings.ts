// What a TLS listener needs to shake hands: certificate, client validation, policy. Turned into options of node:tls
// here and nowhere else.
import { constants, createHash } from 'node:crypto'
import type tls from 'node:tls'
import type { ClientValidation, FrontendTLS } from '#api/ir/types.gen.ts'
import { type VersionsLeft, versionsLeft } from '#api/tls/versions-left.ts'
import type { CertificatePair } from './certificates.ts'
import { cipherList, groupList } from '../socket/cipher-names.ts'

/** Specification, Frontend `tls.handshakeTimeout`. Covers the ClientHello as well. */
export const HANDSHAKE_TIMEOUT_MS = 15_000
const NEWEST: VersionsLeft = { min: '1.3', max: '1.3' }

export interface TlsSettings {
  /** PEM, leaf first. */
  readonly certificate: string
  readonly privateKey: string
  /** Shown to clients that ask for a name that they have and the first does not. */
  readonly moreCertificates: readonly CertificatePair[]
  /** The pair is that of an authority that signs what is shown. */
  readonly signsCertificates: boolean
  readonly clientCertificates: ClientValidation | undefined
  /** Clients must have a SPIFFE id of one of these. */
  readonly trustDomains?: readonly string[]
  readonly policy: FrontendTLS
  /** Offered protocols in order; undefined: the extension is not answered. */
  readonly alpnProtocols: readonly string[] | undefined
}

export interface TlsNames {
  /** For the warnings of the configuration. */
  readonly warnings: readonly string[]
  /** Set: nothing of what was asked for is known, so there is nothing safe to offer. */
  readonly fault: string | undefined
}

/** Judges the names of a policy without making a context, which costs a millisecond. */
export function checkNames(policy: FrontendTLS): TlsNames {
  const { cipherSuites, keyExchangeGroups } = policy
  const ciphers = cipherList(cipherSuites)
  const groups = groupList(keyExchangeGroups)
  const warnings = [
    ...ciphers.unknown.map((name) => `cipher suite ${name} is not supported`),
    ...groups.unknown.map((name) => `key exchange group ${name} is not supported`),
  ]
  const isEmpty = ciphers.list === '' || groups.list === ''
  if (isEmpty) return { warnings, fault: warnings.join('; ') }
  const left = versionsLeft(policy)
  return 'field' in left
    ? { warnings: [...warnings, left.message], fault: left.message }
    : { warnings, fault: undefined }
}

/** Equal for settings that shake hands alike. Hashed, for it covers the private key. */
export function fingerprint(settings: TlsSettings): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64url')
}

/** All but the certificate. */
export function serverOptions(settings: TlsSettings): tls.TlsOptions {
  const { clientCertificates, policy, alpnProtocols } = settings
  const ciphers = cipherList(policy.cipherSuites).list
  const groups = groupList(policy.keyExchangeGroups).list
  const left = versionsLeft(policy)
  // Settings that leave nothing were refused before (`checkNames`).
  const { min, max } = 'field' in left ? NEWEST : left
  return {
    minVersion: `TLSv${min}`,
    maxVersion: `TLSv${max}`,
    honorCipherOrder: true,
    ...(ciphers !== undefined && { ciphers }),
    ...(groups !== undefined && { ecdhCurve: groups }),
    ...(alpnProtocols !== undefined && { ALPNProtocols: [...alpnProtocols] }),
    ...(clientCertificates !== undefined && {
      ca: clientCertificates.caCertificates,
      requestCert: true,
      rejectUnauthorized: clientCertificates.mode === 'AllowValidOnly',
      secureOptions: constants.SSL_OP_NO_TICKET,
    }),
  }
}

/** Clients are asked for a certificate, and served whatever it is. */
export function letsInEverybody({ clientCertificates }: TlsSettings): boolean {
  return clientCertificates?.mode === 'AllowInsecureFallback'
}

/** A resumed session would not show its client certificate again, though authorities may have changed since. */
export function issuesTickets({ clientCertificates }: TlsSettings): boolean {
  return clientCertificates === undefined
}
