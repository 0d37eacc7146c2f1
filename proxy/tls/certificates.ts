// Which of several certificates of one listener a client is shown: those with the name it asked for, one for each
// kind of key, of which OpenSSL takes what the client can verify. Without a fitting one, the first.
import { X509Certificate } from 'node:crypto'

export interface CertificatePair {
  /** PEM, leaf first. */
  readonly certificate: string
  readonly privateKey: string
}

export interface ChosenCertificates {
  /** Equal for equal choices. Names that clients make up all lead to the first certificate, so there are few. */
  readonly key: string
  readonly pairs: readonly CertificatePair[]
}

export class CertificateChoice {
  readonly #first: ChosenCertificates
  readonly #pairs: readonly (CertificatePair & { readonly leaf: X509Certificate })[]

  /** @throws {Error} if one of several is not a certificate. */
  constructor(first: CertificatePair, others: readonly CertificatePair[]) {
    this.#first = { key: '0', pairs: [first] }
    const all = others.length === 0 ? [] : [first, ...others]
    this.#pairs = all.map((pair) => ({ ...pair, leaf: new X509Certificate(pair.certificate) }))
  }

  for(serverName: string | undefined): ChosenCertificates {
    if (serverName === undefined || this.#pairs.length === 0) return this.#first
    const chosen = new Map<string | undefined, number>()
    for (const [at, { leaf }] of this.#pairs.entries()) {
      const kind = leaf.publicKey.asymmetricKeyType
      if (!chosen.has(kind) && leaf.checkHost(serverName) !== undefined) chosen.set(kind, at)
    }
    if (chosen.size === 0) return this.#first
    const places = [...chosen.values()]
    return { key: places.join(), pairs: places.flatMap((at) => this.#pairs[at] ?? []) }
  }
}
