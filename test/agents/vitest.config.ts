// Tests with coding agents, which test/agents/run.sh installs.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { reporters: ['verbose'], include: ['test/agents/*.test.ts'], pool: 'forks', testTimeout: 120_000 },
})
