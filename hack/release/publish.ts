// The script that publishes the artifacts of a release, and what its user does before and after it. Pure.
import { join } from 'node:path'

export interface Layout {
  /** Of the OCI image layout, below the folder of the release. */
  readonly folder: string
  /** In the registry. */
  readonly name: string
  readonly digest: string
  /** The first one is the version; the others are signatures and attestations. */
  readonly tags: readonly string[]
}

export interface ReleaseFiles {
  readonly version: string
  readonly commit: string
  readonly npmPackage: string
  /** In the order in which they are published. */
  readonly layouts: readonly Layout[]
  /** For the page of the release. */
  readonly attachments: readonly string[]
}

export interface Report extends ReleaseFiles {
  readonly folder: string
  /** Before it may be published. */
  readonly missing: readonly string[]
}

/** Registries on this machine have no TLS. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)(?::|\/|$)/

/** Images come before their signatures, and the tag of git after all uploads. Stops at the first failure. */
export function publishScript({ version, commit, npmPackage, layouts }: ReleaseFiles, repository: string): string {
  const copies = layouts.flatMap(({ folder, name, tags }) => tags.map((tag) => `copy ${folder} ${name} ${tag}`))
  const plain = layouts.some(({ name }) => LOOPBACK.test(name)) ? ' --dest-tls-verify=false' : ''
  const place = `'${repository.replaceAll("'", String.raw`'\''`)}'`
  return [
    '#!/bin/sh',
    `# Publishes version ${version}: publish.sh images uploads only images and charts, which can be done again.`,
    'set -eu',
    'cd "$(dirname "$0")"',
    `repository=\${REPOSITORY:-${place}}`,
    'copy() {',
    '\techo "publishing $2:$3"',
    `\tskopeo copy --quiet --all --preserve-digests${plain} "oci:$1:$3" "docker://$2:$3"`,
    '}',
    ...copies,
    `[ "\${1:-}" != images ] || exit 0`,
    `echo "publishing ${npmPackage} to npm"`,
    `npm publish ./${npmPackage}`,
    `git -C "$repository" tag v${version} ${commit}`,
    `git -C "$repository" push origin v${version}`,
    '',
  ].join('\n')
}

/** What to do next. */
export function nextSteps({ folder, missing, version, commit, npmPackage, layouts, attachments }: Report): string[] {
  const isSigned = layouts.some(({ tags }) => tags.length > 1)
  const todo = [
    'Not ready to be published. First:',
    ...missing.map((step) => `  - ${step}`),
    'Then run make release again. A registry on this machine can get it now, for a trial.',
  ]
  const host = layouts[0]?.name.split('/')[0] ?? ''
  return [
    `${folder} has version ${version}.`,
    ...(missing.length === 0 ? [] : todo),
    `1. Log in: skopeo login ${host}; npm login`,
    `2. Run ${join(folder, 'publish.sh')}, which publishes${isSigned ? ', with signatures,' : ''}`,
    ...layouts.map(({ name, digest, tags }) => `     ${name}:${tags[0] ?? ''} (${digest})`),
    `     ${npmPackage} to npm, and the tag v${version} (${commit}) to origin`,
    `3. Attach to the page of the release v${version}, with the section ${version} of CHANGELOG.md as its text:`,
    ...attachments.map((file) => `     ${join(folder, file)}`),
    '4. Verify what is published: docs/contributing/releasing.md#verify-a-download',
  ]
}
