// Tests with peers of Istio, which test/mesh/run.sh builds.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/mesh/*.test.ts'], pool: 'forks', testTimeout: 60_000, hookTimeout: 60_000 },
})
