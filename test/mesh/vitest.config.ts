// Tests with programs of Istio, which test/mesh/run.sh builds: as processes of this machine, and in a cluster, which is
// that of KUBECONFIG or one for this run (test/e2e/vitest.config.ts).
import { defineConfig } from 'vitest/config'
import { clusterPossible } from '../e2e/cluster/machine.ts'

const possible = clusterPossible()
if (!possible)
  console.error('mesh in a cluster: skipped: no KUBECONFIG, no ../shared/cluster, and no engine that docker reaches')

export default defineConfig({
  test: {
    reporters: ['verbose'],
    projects: [
      {
        test: {
          name: 'processes',
          include: ['test/mesh/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'cluster',
          include: possible ? ['test/mesh/cluster/*.test.ts'] : [],
          globalSetup: ['test/e2e/suite/setup.ts'],
          pool: 'forks',
          testTimeout: 300_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
