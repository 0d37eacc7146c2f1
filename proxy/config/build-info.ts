// What this build is, for `/config_dump`, metrics and records that are exported.
import { buildInfo, VERSION } from '#api/version.ts'

export const BUILD = {
  version: VERSION,
  gitRevision: buildInfo(process.env).commit,
  nodeVersion: process.versions.node,
  target: `${process.platform}-${process.arch}`,
}
