// traffic.retry: which requests are sent again, and what backend and client get.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RetryCodes',
    description:
      'a status of the list is retried if the precondition is true, and the backend gets the number of the try',
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
    description: 'a broken precondition disables retries and is reported in the status',
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
    description: 'a response for which the condition is true is retried, with any status',
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
