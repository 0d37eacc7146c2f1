// Settings of the deployer without other values.
import { VERSION } from '#api/version.ts'
import type { DeploySettings } from './input.ts'
import { DEFAULT_RESTRICTIONS } from './restrictions/defaults.ts'

export const DEFAULT_DEPLOY_SETTINGS: DeploySettings = {
  version: `v${VERSION}`,
  image: { registry: 'gw.dev', repository: 'gw', tag: `v${VERSION}` },
  dummyPort: 443,
  environment: {},
  mesh: { autoEnabled: false },
  restrictions: DEFAULT_RESTRICTIONS,
}
