// traffic.retry: which requests are sent again, and what backend and client see of it.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RetryCodes',
    description: 'a status of the list is retried where the precondition holds, and the backend sees which try it is',
    sample: 'retry.yaml',
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 200, text: 'served on try 1' })
      expect(await gateway.ask('/', { method: 'POST' })).toMatchObject({ status: 503, text: 'refused on try 0' })
      await expect.poll(() => gateway.log()).toContain('retry.attempt=1')
    },
  },
  {
    shortName: 'RetryOtherCodes',
    description: 'other statuses are not retried',
    sample: 'retry.yaml',
    change: replacing('codes: [503]', 'codes: [502]'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 503, text: 'refused on try 0' })
    },
  },
  {
    shortName: 'RetryBrokenPrecondition',
    description: 'a broken precondition means no retries, and the status says so',
    sample: 'retry.yaml',
    change: replacing('request.method == "GET"', 'request.method =='),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      const [accepted] = gateway.conditions('GwPolicy', 'retry')
      expect(accepted).toMatchObject({ status: 'True', reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.retry.precondition')
    },
  },
  {
    shortName: 'RetryCondition',
    description: 'a response for which the condition holds is retried, whatever its status',
    sample: 'retry.yaml',
    change: changing('GwPolicy/retry', {
      traffic: { retry: { codes: null, condition: 'response.code == 503 && !("x-hurry" in request.headers)' } },
    }),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 200, text: 'served on try 1' })
      expect((await gateway.ask('/', { headers: { 'x-hurry': 'yes' } })).status).toBe(503)
    },
  },
]
