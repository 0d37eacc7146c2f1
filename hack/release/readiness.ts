// What is missing before a version can be published, as sentences for the person who publishes it. Pure.
export interface ReleaseState {
  readonly version: string
  readonly registry: string
  readonly isClean: boolean
  readonly isSigned: boolean
  readonly changelog: string
  /** Of the CRDs, as kept for this version; undefined: they are not kept. */
  readonly keptSchemas: string | undefined
  readonly currentSchemas: string
  /** Without an image. */
  readonly missingPlatforms: readonly string[]
}

/** Without a setting; not a registry. */
export const DEFAULT_REGISTRY = 'gw.dev'
const SCHEMAS = 'node test/compatibility/schemas.ts'

/** Empty: nothing is missing. */
export function missingSteps(state: ReleaseState): string[] {
  const { version, registry, isClean, isSigned, keptSchemas, currentSchemas, missingPlatforms } = state
  return [
    ...(isClean ? [] : ['Commit the changes of `git status`: the provenance names a commit without them.']),
    ...changelogSteps(state),
    ...(keptSchemas === currentSchemas
      ? []
      : [`Keep the schemas of the CRDs of ${version} for later compatibility tests: ${SCHEMAS}, and commit them.`]),
    ...(registry === DEFAULT_REGISTRY
      ? [`Name the registry of images and charts: IMAGE_REGISTRY=… instead of ${registry}.`]
      : []),
    ...(missingPlatforms.length === 0
      ? []
      : [`Make the images of ${missingPlatforms.join(', ')}: omit --without images and --platforms.`]),
    ...(isSigned ? [] : ['Sign: --key FILE or GW_RELEASE_KEY names a private key (Ed25519).']),
  ]
}

function changelogSteps({ changelog, version }: ReleaseState): string[] {
  const sections = changelog.split(/^## /m)
  const unreleased = sections.find((section) => section.startsWith('Unreleased')) ?? ''
  const lines = unreleased.split('\n').filter((line) => line.startsWith('- ')).length
  const has = sections.some((section) => new RegExp(`^${version.replaceAll('.', '\\.')}\\b`).test(section))
  if (lines > 0)
    return [`Move the ${lines} lines of \`Unreleased\` in CHANGELOG.md under the heading \`## ${version}\`.`]
  return has ? [] : [`Add the heading \`## ${version}\` to CHANGELOG.md.`]
}
