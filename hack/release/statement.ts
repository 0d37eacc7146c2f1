// The files of a release and the commit of their sources: checksums, and a provenance statement (in-toto v1, SLSA
// provenance v1), both signed if a key is given.
import { createHash, createPrivateKey, sign } from 'node:crypto'
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
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.map(({ name, digest }) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
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
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

/**
 * Ed25519, as `openssl pkeyutl -verify -rawin` reads it. `key`: file with a private key in PEM.
 * @throws {Error} The file has no such key.
 */
export function signature(text: string, key: string): Uint8Array {
  const privateKey = createPrivateKey(readFileSync(key))
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error(`${key} is not a key of type ed25519`)
  return sign(null, Buffer.from(text), privateKey)
}
