import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { ALONE, LongestFirst } from './test/run/order.ts'
import { RetriedReporter } from './test/run/retried.ts'

// Each proxy of a test has threads and each `gw` is a process, which read the sources once more: half of what they cost
// is stripping types and compiling.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

const FILES = '{api,operator,deployer,proxy,cli,codegen,test,bench}/**/*.test.ts'
const PROPERTIES = '**/*.{prop,fuzz}.test.ts'
const EXCLUDED = ['**/node_modules/**', 'test/e2e/**']

// More than four would wait for each other's processes; test/ports.ts knows as many shares.
const TOGETHER = { maxWorkers: Math.min(availableParallelism(), 4), sequence: { groupOrder: 0 } }

export default defineConfig({
  test: {
    pool: 'forks',
    // Real sockets and processes on shared machines: CI tries a failed test once more, and its output ends with which.
    retry: process.env['CI'] === undefined ? 0 : 1,
    reporters: [...configDefaults.reporters, new RetriedReporter()],
    sequence: { sequencer: LongestFirst },
    // Nothing waits that long but a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'together', include: [FILES], exclude: [...EXCLUDED, ...ALONE, PROPERTIES], ...TOGETHER },
      },
      {
        extends: true,
        test: {
          name: 'properties',
          include: [PROPERTIES],
          exclude: EXCLUDED,
          setupFiles: ['test/run/properties.ts'],
          ...TOGETHER,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: EXCLUDED,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
