// HTTPRoute filter URLRewrite.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteRewrite',
    description: 'the backend gets the new path and host',
    sample: 'route-rewrite.yaml',
    async run(gateway) {
      const headers = { host: 'shop.example.com' }
      const api = await gateway.echo('/api/orders?page=2', { headers })
      expect(api.path).toBe('/internal/v2/orders?page=2')
      expect(api.headers['host']).toBe('shop.example.com')
      const status = await gateway.echo('/status/x?y=1', { headers })
      expect(status.path).toBe('/healthz?y=1')
      expect(status.headers['host']).toBe('health.example.com')
    },
  },
]
