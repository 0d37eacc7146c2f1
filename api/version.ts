// Version of this build.
import manifest from '../package.json' with { type: 'json' }

export const VERSION: string = manifest.version

export interface BuildInfo {
  readonly commit: string
  /** ISO 8601. */
  readonly date: string
}

/** The commit of an image (images/Dockerfile); unknown when run from sources. */
export function buildInfo(environment: Readonly<Record<string, string | undefined>>): BuildInfo {
  const known = (name: string): string => {
    const value = environment[name]
    return value === undefined || value === '' ? 'unknown' : value
  }
  return { commit: known('GW_BUILD_COMMIT'), date: known('GW_BUILD_DATE') }
}
