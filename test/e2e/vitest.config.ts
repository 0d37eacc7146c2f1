// Tests in a real cluster: that of KUBECONFIG, else one for this run, which is removed at the end
// (cluster/use-cluster.ts). Files run one after the other, in the order of their names: they share the cluster.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { clusterPossible } from './cluster/machine.ts'

export class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
  }
}

export { clusterPossible }

const possible = clusterPossible()
if (!possible)
  console.error('cluster tests: skipped: no KUBECONFIG, no ../shared/cluster, and no engine that docker reaches')

export default defineConfig({
  test: {
    include: possible ? ['test/e2e/*.test.ts'] : [],
    passWithNoTests: !possible,
    globalSetup: ['test/e2e/suite/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    sequence: { sequencer: ByName },
    testTimeout: 300_000,
    hookTimeout: 600_000,
    reporters: ['verbose'],
  },
})
