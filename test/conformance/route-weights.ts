// Weights of backendRefs.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

/** The chance that one of the two backends is never picked is below 1e-24 (0.75 to the 200th). */
const REQUESTS = 200

async function counts(gateway: SampleGateway, path: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (let i = 0; i < REQUESTS; i++) {
    const { server } = await gateway.echo(path)
    found[server] = (found[server] ?? 0) + 1
  }
  return found
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteWeights',
    description: 'requests are split by weight, and a backend of weight 0 gets none',
    sample: 'route-weights.yaml',
    async run(gateway) {
      const { echo = 0, spare = 0 } = await counts(gateway, '/canary')
      expect(echo + spare).toBe(REQUESTS)
      expect(spare).toBeGreaterThan(0)
      expect(echo).toBeGreaterThan(spare)
      expect(await counts(gateway, '/drained')).toEqual({ spare: REQUESTS })
    },
  },
]
