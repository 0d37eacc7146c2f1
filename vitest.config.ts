import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { ALONE, ISOLATED, LongestFirst, OPERATOR, PURE } from './test/run/order.ts'
import { RetriedReporter } from './test/run/retried.ts'

// Each proxy of a test has threads and each `gw` is a process, which read the sources once more: half of what they cost
// is stripping types and compiling.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

const FILES = '{api,operator,deployer,proxy,cli,codegen,test,bench}/**/*.test.ts'
const EXCLUDED = ['**/node_modules/**', 'test/e2e/**', 'test/mesh/**', 'test/agents/**', 'test/pages/cluster/**']

// Two more than there are processors, for tests that wait; test/ports.ts has four shares.
const TOGETHER = { maxWorkers: Math.min(availableParallelism() + 2, 4), sequence: { groupOrder: 0 } }

/** They start a cluster, and run only when they are named: `vitest run test/e2e/20-samples.test.ts`. */
const CLUSTER_TESTS = /^(\.\/)?test\/e2e(\/|$)/

const others = defineConfig({
  test: {
    pool: 'forks',
    // Real sockets and processes on shared machines: CI tries a failed test once more, and its output ends with which.
    retry: process.env['CI'] === undefined ? 0 : 1,
    // `make test` leaves them out. The kinds of tests are in docs/contributing/testing.md.
    tags: [{ name: 'full', description: 'runs in make test-full, not in make test' }],
    reporters: [...configDefaults.reporters, new RetriedReporter()],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/run/properties.ts'],
    // Nothing waits that long but a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      // Many files in one process: each would load the same modules again, which takes longer than its tests.
      {
        extends: true,
        test: { name: 'pure', include: PURE, exclude: [...EXCLUDED, ...ISOLATED], isolate: false, ...TOGETHER },
      },
      {
        extends: true,
        test: { name: 'operator', include: OPERATOR, exclude: EXCLUDED, isolate: false, ...TOGETHER },
      },
      // A process for each file: sockets, streams and timers of one file must not disturb the next.
      {
        extends: true,
        test: {
          name: 'together',
          include: [FILES],
          exclude: [...EXCLUDED, ...ALONE, ...PURE, ...OPERATOR],
          ...TOGETHER,
        },
      },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED, exclude: EXCLUDED, ...TOGETHER },
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

const clusterTests = process.argv.some((argument) => CLUSTER_TESTS.test(argument))
export default clusterTests ? (await import('./test/e2e/vitest.config.ts')).default : others
