// The identity in a verified client certificate: CEL `source.*`, access log. Parsed on first use.
import { Buffer } from 'node:buffer'
import { X509Certificate } from 'node:crypto'
import { subjectAltNames } from '#api/tls/subject-alt-names.ts'

export interface PeerIdentity {
  readonly trustDomain: string
  readonly namespace: string
  readonly serviceAccount: string
}

const SPIFFE = 'spiffe://'
const KUBERNETES_ID = /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/

/** For verified certificates only: the content of an unverified certificate must not be trusted. */
export class PeerCertificate {
  readonly #certificate: X509Certificate
  #names: readonly string[] | undefined = undefined

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate
  }

  static ofDer(der: Buffer): PeerCertificate {
    return new PeerCertificate(new X509Certificate(der))
  }

  /** PEM. */
  get certificate(): string {
    return this.#certificate.toString()
  }

  /** Values without their type: `a.example.com`, `spiffe://…`, `10.0.0.1`. */
  get subjectAltNames(): readonly string[] {
    this.#names ??= subjectAltNames(this.#certificate.subjectAltName).map(({ value }) => value)
    return this.#names
  }

  /** `C=DE, O=Example, CN=client`, in the order of the certificate. */
  get subject(): string {
    return oneLine(this.#certificate.subject)
  }

  get issuer(): string {
    return oneLine(this.#certificate.issuer)
  }

  get subjectCn(): string | undefined {
    const line = this.#certificate.subject.split('\n').find((part) => part.startsWith('CN='))
    return line?.slice('CN='.length)
  }

  /** The only URI name of the certificate, if it is a SPIFFE id: several are not valid (SPIFFE X.509-SVID 2). */
  get spiffeId(): string | undefined {
    const ids = this.subjectAltNames.filter((name) => name.startsWith(SPIFFE))
    return ids.length === 1 ? ids[0] : undefined
  }

  /** Parts of a SPIFFE id in the form that Kubernetes meshes use. */
  get identity(): PeerIdentity | undefined {
    const [, trustDomain, namespace, serviceAccount] = KUBERNETES_ID.exec(this.spiffeId ?? '') ?? []
    if (trustDomain === undefined || namespace === undefined || serviceAccount === undefined) return undefined
    return { trustDomain, namespace, serviceAccount }
  }
}

function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ')
}

/** In a list of trust domains: all of them. No trust domain has this name (SPIFFE ID, section 2.1). */
export const ANY_TRUST_DOMAIN = '*'

export function acceptsTrustDomain(accepted: readonly string[], trustDomain: string): boolean {
  return accepted.includes(trustDomain) || accepted.includes(ANY_TRUST_DOMAIN)
}
