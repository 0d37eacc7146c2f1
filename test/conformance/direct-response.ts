// traffic.directResponse: fixed, computed and conditional responses.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'direct-response.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'DirectResponse',
    description: 'the gateway answers with fixed and with computed content',
    sample: SAMPLE,
    async run(gateway) {
      const maintenance = await gateway.ask('/maintenance')
      expect(maintenance).toMatchObject({ status: 503, text: 'back at noon', headers: { 'retry-after': '3600' } })
      const whoami = await gateway.ask('/whoami', { method: 'PUT' })
      expect(whoami).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
      expect(JSON.parse(whoami.text)).toEqual({ method: 'PUT', path: '/whoami', address: '127.0.0.1' })
    },
  },
  {
    shortName: 'DirectResponseConditional',
    description: 'the first entry whose condition is true answers',
    sample: SAMPLE,
    async run(gateway) {
      const tester = await gateway.ask('/beta', { headers: { 'x-beta': 'yes' } })
      expect(tester).toMatchObject({ status: 200, text: 'welcome to the beta' })
      expect(await gateway.ask('/beta')).toMatchObject({ status: 404, text: 'not found' })
    },
  },
  {
    shortName: 'DirectResponseBrokenBody',
    description: 'a body expression that fails makes the response fail, and the status names its field',
    sample: SAMPLE,
    change: replacing('{"method": request.method,', '{"method": request.method'),
    async run(gateway) {
      expect((await gateway.ask('/whoami')).status).toBe(500)
      const [accepted] = gateway.conditions('GwPolicy', 'whoami')
      expect(accepted).toMatchObject({ type: 'Accepted', status: 'True', reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.directResponse.bodyExpression')
      expect((await gateway.ask('/maintenance')).status).toBe(503)
    },
  },
]
