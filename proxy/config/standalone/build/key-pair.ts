// A certificate and its private key, as paths of PEM files: a pair of secrets of the configuration.
import type { SecretRef } from '#api/ir/types.gen.ts'
import { type KeyPairFault, keyPairFault } from '#api/tls/key-pair.ts'
import { pathTo } from '../field-path.ts'
import type { BuildContext } from './context.ts'

interface Fault {
  readonly field: 'cert' | 'key'
  readonly message: string
}

const FAULTS: Readonly<Record<KeyPairFault, Fault>> = {
  noCertificate: { field: 'cert', message: 'the file contains no PEM certificate' },
  noPrivateKey: { field: 'key', message: 'the file contains no PEM private key' },
  badCertificate: { field: 'cert', message: 'the file contains no valid certificate; write it as PEM, leaf first' },
  badPrivateKey: { field: 'key', message: 'the file contains no usable private key; keys must not be encrypted' },
  otherPrivateKey: {
    field: 'key',
    message: 'the private key does not match the certificate in cert; set the key of this certificate',
  },
}

export interface RenderedPair {
  readonly certificate: SecretRef
  readonly privateKey: SecretRef
}

/** `path`: of the mapping with `cert` and `key`. Files that cannot be read are reported once. */
export function renderKeyPair(
  { cert, key }: { readonly cert: string; readonly key: string },
  path: string,
  context: BuildContext,
): RenderedPair {
  const [certPath, keyPath] = [pathTo(path, 'cert'), pathTo(path, 'key')]
  const [certificate, privateKey] = [context.readFile(certPath, cert), context.readFile(keyPath, key)]
  const code = certificate === undefined || privateKey === undefined ? undefined : keyPairFault(certificate, privateKey)
  if (code !== undefined) context.error(pathTo(path, FAULTS[code].field), FAULTS[code].message)
  return {
    certificate: context.secret(certPath, certificate ?? ''),
    privateKey: context.secret(keyPath, privateKey ?? ''),
  }
}
