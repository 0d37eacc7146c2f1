// traffic.delay: a delay computed by an expression, limited by the request timeout.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SLOW = { headers: { 'x-slow': 'yes' } }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'DelayExpression',
    description: 'the expression sets how long a request waits, and the wait is part of the timeout',
    sample: 'delay.yaml',
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(200)
      expect(await gateway.ask('/', SLOW)).toMatchObject({ status: 504, text: 'request timeout' })
    },
  },
  {
    shortName: 'DelayBroken',
    description: 'a broken expression has no effect and is reported in the status',
    sample: 'delay.yaml',
    change: replacing('request.headers["x-slow"] ==', 'request.headers["x-slow"] = '),
    async run(gateway) {
      expect((await gateway.ask('/', SLOW)).status).toBe(200)
      expect(gateway.conditions('GwPolicy', 'delay')[0]?.message).toContain('spec.traffic.delay.duration')
    },
  },
]
