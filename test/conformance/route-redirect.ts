// HTTPRoute filter RequestRedirect.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteRedirect',
    description: 'the client is sent to the new place with the configured status',
    sample: 'route-redirect.yaml',
    async run(gateway) {
      const headers = { host: `gw.example.com:${gateway.port}` }
      const old = await gateway.ask('/old/a?b=1', { headers })
      expect(old).toMatchObject({ status: 301, text: '' })
      expect(old.headers.location).toBe(`http://gw.example.com:${gateway.port}/new/a?b=1`)
      const elsewhere = await gateway.ask('/elsewhere/x', { headers })
      expect(elsewhere.status).toBe(302)
      expect(elsewhere.headers.location).toBe('https://shop.example.com/elsewhere/x')
    },
  },
]
