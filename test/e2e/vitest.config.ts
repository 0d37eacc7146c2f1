// Tests against a real cluster (run.sh starts them). One file after the other, in the order of their names: they share
// the cluster.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
  }
}

export default defineConfig({
  test: {
    include: ['test/e2e/*.test.ts'],
    globalSetup: ['test/e2e/suite/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    sequence: { sequencer: ByName },
    testTimeout: 300_000,
    hookTimeout: 600_000,
    reporters: ['verbose'],
  },
})
