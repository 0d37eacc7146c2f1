import { afterEach, expect, it, vi } from 'vitest'
import { VERSION } from '#api/version.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

it('names the commit that the image was built from', async () => {
  vi.stubEnv('GW_BUILD_COMMIT', 'abc123')
  vi.resetModules()
  const { BUILD } = await import('./build-info.ts')
  expect(BUILD).toMatchObject({ version: VERSION, gitRevision: 'abc123', nodeVersion: process.versions.node })
})
