// Whether a Secret holds a certificate and the key that belongs to it. The values never enter a message.
import { X509Certificate } from 'node:crypto'
import { authorityFault as faultOfAuthority } from '#api/tls/authority-fault.ts'
import { certificateBlocks } from '#api/tls/certificate-bundle.ts'
import { type KeyPairFault, keyPairFault } from '#api/tls/key-pair.ts'
import type { Secret } from '../kube.ts'
import { secretValue } from '../secret-value.ts'

export interface TlsPair {
  /** PEM, leaf first. */
  readonly certificate: string
  readonly privateKey: string
}

export type PairOutcome = { readonly pair: TlsPair } | { readonly fault: string }

export const CERTIFICATE_KEY = 'tls.crt'
export const PRIVATE_KEY = 'tls.key'

const OF_TYPE = 'it must be of type kubernetes.io/tls'

const FAULTS: Readonly<Record<KeyPairFault, string>> = {
  noCertificate: `has no PEM certificate under ${CERTIFICATE_KEY}; ${OF_TYPE}`,
  noPrivateKey: `has no PEM private key under ${PRIVATE_KEY}; ${OF_TYPE}`,
  badCertificate: `has no valid certificate under ${CERTIFICATE_KEY}; put its PEM there, leaf first`,
  badPrivateKey: `has no usable private key under ${PRIVATE_KEY}; keys must not be encrypted`,
  otherPrivateKey:
    `has a private key under ${PRIVATE_KEY} that does not match the certificate under ${CERTIFICATE_KEY}; ` +
    'put a matching pair there',
}

/** Objects do not change: each Secret is checked once, however often it is named. */
const judged = new WeakMap<Secret, PairOutcome>()

/** `fault` continues the text "secret ns/name …". */
export function tlsPair(secret: Secret): PairOutcome {
  const known = judged.get(secret)
  if (known !== undefined) return known
  const outcome = judge(secret)
  judged.set(secret, outcome)
  return outcome
}

function judge(secret: Secret): PairOutcome {
  const certificate = secretValue(secret, CERTIFICATE_KEY)
  const privateKey = secretValue(secret, PRIVATE_KEY)
  const fault = keyPairFault(certificate, privateKey)
  if (fault !== undefined) return { fault: FAULTS[fault] }
  return { pair: { certificate: `${certificate ?? ''}\n`, privateKey: `${privateKey ?? ''}\n` } }
}

/** Why a pair cannot sign certificates; continues the text "secret ns/name …". */
export function authorityFault({ certificate }: TlsPair): string | undefined {
  const fault = faultOfAuthority(certificate)
  if (fault === 'noAuthority') {
    return `has a certificate under ${CERTIFICATE_KEY} that is not a CA certificate (CA:TRUE)`
  }
  return fault && `has a CA certificate under ${CERTIFICATE_KEY} whose key is not RSA, EC or Ed25519`
}

/** Whether a bundle holds only valid certificates. */
export function isCertificateBundle(pem: string): boolean {
  const blocks = certificateBlocks(pem)
  return blocks.length > 0 && blocks.every((block) => attempt(() => new X509Certificate(block)) !== undefined)
}

/** node:crypto throws for invalid input of users; here that is a result. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
