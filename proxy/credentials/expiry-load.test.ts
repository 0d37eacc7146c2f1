import { expect, it } from 'vitest'
import { loadOverExpiry } from './expiry-load.testing.ts'

it(
  'answers 1,000 requests/s over the end of a token without a failure, with one fetch for all workers',
  { tags: ['full'], timeout: 60_000 },
  async () => {
    const result = await loadOverExpiry({ seconds: 8, perSecond: 1000, workers: 2, endpointMs: 200 })
    expect(result).toMatchObject({ sent: 8000, failures: new Map(), ended: 0, fetches: 2 })
    expect(result.perToken).toHaveLength(2)
    // The requests at the end of the load could not have the first token any more.
    expect(result.perToken[1]).toBeGreaterThan(500)
  },
)
