// What this build is, for `/config_dump` and metrics.
import manifest from '../../package.json' with { type: 'json' }

export const BUILD = {
  version: manifest.version,
  /** Set by the image build. */
  gitRevision: process.env['GW_GIT_REVISION'] ?? 'unknown',
  nodeVersion: process.versions.node,
  target: `${process.platform}-${process.arch}`,
}
