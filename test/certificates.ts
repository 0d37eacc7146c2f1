// Certificates for tests, created on demand with the openssl of the machine. No key is part of the repository.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface KeyPair {
  /** PEM. */
  readonly certificate: string
  readonly privateKey: string
}

export interface CertificateOptions {
  readonly commonName: string
  /** In the format of openssl: `DNS:a.example.com`, `URI:spiffe://…`, `IP:127.0.0.1`. */
  readonly names?: readonly string[]
  /** Without an issuer the certificate is self-signed. */
  readonly issuer?: KeyPair
  readonly isAuthority?: boolean
  readonly days?: number
  /** Without key identifiers an issuer is found only by its name. */
  readonly hasKeyIdentifiers?: boolean
  /** Default: EC P-256. */
  readonly key?: 'EC' | 'RSA'
}

export function certificateFor(options: CertificateOptions): KeyPair {
  const folder = mkdtempSync(join(tmpdir(), 'gw-certificate-'))
  const file = (name: string): string => join(folder, name)
  try {
    const { commonName, names = [], issuer, isAuthority = false, days = 2, key = 'EC' } = options
    const kind = key === 'EC' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : ['rsa:2048']
    const args = ['req', '-x509', '-newkey', ...kind, '-nodes', '-batch']
    args.push('-keyout', file('key'), '-out', file('crt'), '-days', String(days))
    args.push('-subj', `/O=Test/CN=${commonName}`)
    args.push('-addext', `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`)
    if (names.length > 0) args.push('-addext', `subjectAltName=${names.join(',')}`)
    if (options.hasKeyIdentifiers === false) {
      args.push('-addext', 'subjectKeyIdentifier=none', '-addext', 'authorityKeyIdentifier=none')
    }
    if (issuer !== undefined) {
      writeFileSync(file('ca.crt'), issuer.certificate)
      writeFileSync(file('ca.key'), issuer.privateKey, { mode: 0o600 })
      args.push('-CA', file('ca.crt'), '-CAkey', file('ca.key'))
    }
    execFileSync('openssl', args, { stdio: 'pipe' })
    return { certificate: readFileSync(file('crt'), 'utf8'), privateKey: readFileSync(file('key'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function authority(commonName = 'Test CA'): KeyPair {
  return certificateFor({ commonName, isAuthority: true })
}
