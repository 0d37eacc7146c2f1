// traffic.timeouts: the deadline of the whole exchange.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { ENDLESS } from './suite/echo.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RequestTimeout',
    description: 'a backend that does not answer in time causes 504, one that does is not affected',
    sample: 'timeouts.yaml',
    async run(gateway) {
      expect(await gateway.ask('/silent')).toMatchObject({ status: 504, text: 'request timeout' })
      expect((await gateway.ask('/echo')).status).toBe(200)
    },
  },
  {
    shortName: 'RequestTimeoutOfResponse',
    description: 'a response that has begun and does not end in time is aborted and logged',
    sample: 'timeouts.yaml',
    async run(gateway) {
      const response = await fetch(`${gateway.url}/echo${ENDLESS}`)
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow('terminated')
      const line = /http\.status=200 .*error="request timeout: the response was cut short" reason=Timeout/
      await expect.poll(() => gateway.log(), { timeout: 5000 }).toMatch(line)
    },
  },
  {
    shortName: 'RequestTimeoutOnGateway',
    description: 'timeouts apply only to HTTPRoutes: on a Gateway they have no effect and are reported in the status',
    sample: 'timeouts.yaml',
    change: replacing('kind: HTTPRoute\n      name: timeouts', 'kind: Gateway\n      name: timeouts'),
    async run(gateway) {
      const [accepted, attached] = gateway.conditions('GwPolicy', 'timeouts')
      expect(accepted).toMatchObject({ status: 'False', reason: 'Invalid' })
      expect(accepted?.message).toContain('traffic.timeouts applies to HTTPRoutes only')
      expect(attached).toMatchObject({ type: 'Attached', status: 'False', reason: 'Pending' })
      expect((await gateway.ask('/echo')).status).toBe(200)
    },
  },
]
