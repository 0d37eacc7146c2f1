// TLS towards backends as options of node:tls: trust, client certificate, groups, the names a certificate must contain.
import tls from 'node:tls'
import { bearsOneOf, subjectAltNames } from '#api/tls/subject-alt-names.ts'
import type { UpstreamTls } from './target.ts'
import { groupList } from '../socket/cipher-names.ts'

/** @throws {Error} when a certificate or key is not what it should be; the call must then fail. */
export function upstreamContext(upstream: UpstreamTls): tls.SecureContext {
  const { caCertificates, clientCertificate, clientKey, keyExchangeGroups } = upstream
  // An absent text would make a context without a certificate, and the backend would not know the proxy.
  if (clientCertificate === '' || clientKey === '') throw new Error('the client certificate for the backend is missing')
  const groups = groupList(keyExchangeGroups).list
  if (groups === '') throw new Error('no supported key exchange group is configured')
  return tls.createSecureContext({
    minVersion: 'TLSv1.2',
    ...(caCertificates !== undefined && { ca: caCertificates }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
    ...(groups !== undefined && { ecdhCurve: groups }),
  })
}

class OtherName extends Error {
  readonly code = 'ERR_TLS_CERT_ALTNAME_INVALID'
  constructor(wanted: readonly string[]) {
    super(`the certificate matches no expected name: ${wanted.join(', ')}`)
  }
}

/** What a backend's certificate is held against. Trust in its issuer is checked besides, unless all checks are off. */
export function identityOptions({
  insecureSkipVerify,
  verifySubjectAltNames,
}: UpstreamTls): Pick<tls.ConnectionOptions, 'rejectUnauthorized' | 'checkServerIdentity'> {
  const rejectUnauthorized = insecureSkipVerify !== 'All'
  if (insecureSkipVerify !== undefined) return { rejectUnauthorized, checkServerIdentity: () => undefined }
  if (verifySubjectAltNames === undefined) return { rejectUnauthorized }
  return {
    rejectUnauthorized,
    checkServerIdentity: (_host, certificate) =>
      bearsOneOf(subjectAltNames(certificate.subjectaltname), verifySubjectAltNames)
        ? undefined
        : new OtherName(verifySubjectAltNames),
  }
}
