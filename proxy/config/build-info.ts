// Version and commit of this build, for `/config_dump`, metrics and exported records.
import { buildInfo, VERSION } from '#api/version.ts'

export const BUILD = {
  version: VERSION,
  gitRevision: buildInfo(process.env).commit,
  nodeVersion: process.versions.node,
  target: `${process.platform}-${process.arch}`,
}
