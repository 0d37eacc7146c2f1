// Certificates of a mesh: reads bundles, and finds the way from a certificate to a root. Bounded in size and number.
import { X509Certificate } from 'node:crypto'

/** Certificates of one bundle: roots of several clusters during a rotation. */
const CERTIFICATES_MAX = 256
/** Intermediate authorities between a workload and a root. */
const DEPTH_MAX = 8
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** @throws {Error} for text without certificates, with too many, or with an invalid one. */
export function certificatesOf(text: string): X509Certificate[] {
  const blocks = text.match(PEM) ?? []
  if (blocks.length === 0) throw new Error('contains no certificate')
  if (blocks.length > CERTIFICATES_MAX) throw new Error(`contains more than ${CERTIFICATES_MAX} certificates`)
  return blocks.map((block) => {
    try {
      return new X509Certificate(block)
    } catch {
      throw new Error('contains an invalid certificate')
    }
  })
}

/**
 * The certificates from `leaf` to one of `roots`, `leaf` first and the root last; undefined: none of `roots` issued it,
 * or a certificate on the way is not valid at `nowMs`.
 */
export function pathToRoot(
  leaf: X509Certificate,
  { intermediates, roots, nowMs }: PathOptions,
): X509Certificate[] | undefined {
  const path = [leaf]
  for (let current = leaf; path.length <= DEPTH_MAX;) {
    if (!isValidAt(current, nowMs)) return undefined
    const root = roots.find((one) => isIssuedBy(current, one) && isValidAt(one, nowMs))
    if (root !== undefined) return [...path, root]
    const issuer = intermediates.find((one) => !path.includes(one) && isIssuedBy(current, one))
    if (issuer === undefined) return undefined
    path.push(issuer)
    current = issuer
  }
  return undefined
}

export interface PathOptions {
  readonly intermediates: readonly X509Certificate[]
  readonly roots: readonly X509Certificate[]
  /** Unix time in milliseconds. */
  readonly nowMs: number
}

/** Unix time in milliseconds. */
export function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}

export function startOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validFrom)
}

/** Clocks of the authority and of this machine differ. */
const SKEW_MS = 60_000

function isValidAt(certificate: X509Certificate, nowMs: number): boolean {
  return startOf(certificate) - SKEW_MS <= nowMs && nowMs < endOf(certificate)
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
