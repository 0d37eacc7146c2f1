// The files of a release and the commit of their sources: checksums, and a provenance statement (in-toto v1, SLSA
// provenance v1), both signed if a key is given.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Artifact {
  /** Path below the folder of the release. */
  readonly name: string
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

export interface Build {
  readonly version: string
  /** Full hash. */
  readonly commit: string
  /** Without changes that no commit has. */
  readonly isClean: boolean
  /** Seconds since 1970. */
  readonly epoch: number
}

export function artifactsIn(folder: string, names: readonly string[]): Artifact[] {
  return names.toSorted().map((name) => ({
    name,
    digest: createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex'),
  }))
}

/** The format of `sha256sum --check`. */
export function checksums(artifacts: readonly Artifact[]): string {
  return artifacts.map(({ name, digest }) => `${digest}  ${name}\n`).join('')
}

/** https://slsa.dev/spec/v1.0/provenance */
export function provenance(artifacts: readonly Artifact[], { version, commit, isClean, epoch }: Build): string {
  return statementOf(artifacts, 'https://slsa.dev/provenance/v1', {
    buildDefinition: {
      buildType: 'https://gw.dev/release/v1',
      externalParameters: { target: 'make release', version },
      internalParameters: { isClean },
      resolvedDependencies: [{ uri: 'git+https://gw.dev/gw', digest: { gitCommit: commit } }],
    },
    runDetails: {
      builder: { id: 'https://gw.dev/release/local' },
      metadata: { finishedOn: new Date(epoch * 1000).toISOString() },
    },
  })
}

/** What is in an image, as a statement about its digest. `bill`: of CycloneDX. */
export function billStatement(subject: Artifact, bill: string): string {
  return statementOf([subject], 'https://cyclonedx.org/bom', JSON.parse(bill))
}

/** @throws {Error} The file has no private key of the type Ed25519. */
export function signingKey(file: string): KeyObject {
  const key = createPrivateKey(readFileSync(file))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} is not a key of type ed25519`)
  return key
}

export function publicKey(key: KeyObject): string {
  return String(createPublicKey(key).export({ type: 'spki', format: 'pem' }))
}

/** As `openssl pkeyutl -verify -rawin` and cosign read it. */
export function signed(content: Uint8Array, key: KeyObject): Buffer {
  return sign(null, content, key)
}

function statementOf(artifacts: readonly Artifact[], predicateType: string, predicate: unknown): string {
  const subject = artifacts.map(({ name, digest }) => ({ name, digest: { sha256: digest } }))
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }
  return `${JSON.stringify(statement, null, 2)}\n`
}
