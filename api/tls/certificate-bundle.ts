// The certificates of a PEM text and nothing else. Bundles of authorities are plain configuration: dumps show them, so
// a private key that stands beside a certificate must not be delivered with it. Pure.

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** PEM blocks in their order; empty when the text has no certificate. */
export function certificateBlocks(pem: string): readonly string[] {
  return pem.match(BLOCK) ?? []
}

/** The text itself when it holds nothing but certificates and remarks. */
export function certificatesOnly(pem: string): string {
  return pem.includes('PRIVATE KEY') ? `${certificateBlocks(pem).join('\n')}\n` : pem
}
