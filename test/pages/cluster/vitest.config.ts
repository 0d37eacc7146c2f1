// Commands of pages about a cluster, as they stand there: the cluster is the one that `make kind-up` starts, and
// `make kind-down` of the last page removes it. Files run one after the other, in the order of their names.
import { defineConfig } from 'vitest/config'
import { ByName, clusterPossible } from '../../e2e/vitest.config.ts'

const possible = clusterPossible()
if (!possible) console.error('pages about a cluster: skipped: no ../shared/cluster, and no engine that docker reaches')

export default defineConfig({
  test: {
    include: possible ? ['test/pages/cluster/*.test.ts'] : [],
    passWithNoTests: !possible,
    pool: 'forks',
    fileParallelism: false,
    bail: 1,
    sequence: { sequencer: ByName },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['verbose'],
  },
})
