// traffic.rateLimit.global: decisions of a rate limit service, conditions, and services that cannot be asked.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'rate-limit-global.yaml'

/** The service keeps its counts over all cases: each case has its own users. */
const as = (user: string, method = 'GET') => ({ method, headers: { 'x-user': user } })
const USER = { name: 'user', expression: 'request.headers["x-user"]' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'GlobalRateLimit',
    description: 'the service counts the requests of each user, and the request above the limit gets 429',
    sample: SAMPLE,
    async run(gateway) {
      for (const user of ['alice', 'bob']) {
        await gateway.echo('/closed', as(user))
        await gateway.echo('/closed', as(user))
        expect((await gateway.ask('/closed', as(user))).status).toBe(429)
      }
    },
  },
  {
    shortName: 'GlobalRateLimitNoDescriptor',
    description: 'nothing is counted if an entry has no value',
    sample: SAMPLE,
    async run(gateway) {
      for (let i = 0; i < 3; i++) await gateway.echo('/closed')
    },
  },
  {
    shortName: 'GlobalRateLimitConditional',
    description: 'a request is not counted if no condition is true',
    sample: SAMPLE,
    async run(gateway) {
      for (let i = 0; i < 3; i++) await gateway.echo('/choice', as('carol'))
      for (let i = 0; i < 2; i++) await gateway.echo('/choice', as('carol', 'POST'))
      expect((await gateway.ask('/choice', as('carol', 'POST'))).status).toBe(429)
    },
  },
  {
    shortName: 'GlobalRateLimitFailureMode',
    description: 'requests fail if the service cannot be asked, or pass with FailOpen',
    sample: SAMPLE,
    async run(gateway) {
      expect(await gateway.ask('/gone', as('dave'))).toMatchObject({ status: 500, text: 'rate limit failed' })
      await gateway.echo('/open', as('dave'))
    },
  },
  {
    shortName: 'GlobalRateLimitMissingBackend',
    description: 'a service that does not exist cannot be asked, and the status names it',
    sample: SAMPLE,
    change: replacing('          name: limiter\n        domain', '          name: nowhere\n        domain'),
    async run(gateway) {
      expect((await gateway.ask('/closed', as('erin'))).status).toBe(500)
      const [accepted] = gateway.conditions('GwPolicy', 'rate-limit-global-closed')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message:
          'spec.traffic.rateLimit.global.backendRef: backend(default/nowhere) not found: there is no GwBackend default/nowhere',
      })
    },
  },
  {
    shortName: 'GlobalRateLimitCost',
    description: 'the cost of a request is its number of hits',
    sample: SAMPLE,
    change: changing('GwPolicy/rate-limit-global-closed', {
      traffic: {
        rateLimit: {
          global: {
            failureMode: 'FailClosed',
            descriptors: [{ unit: 'Requests', cost: 'int(request.headers["x-cost"])', entries: [USER] }],
          },
        },
      },
    }),
    async run(gateway) {
      const costs = (cost: string) => ({ headers: { 'x-user': 'frank', 'x-cost': cost } })
      await gateway.echo('/closed', costs('2'))
      expect((await gateway.ask('/closed', costs('1'))).status).toBe(429)
    },
  },
  {
    shortName: 'GlobalRateLimitTokens',
    description: 'tokens are counted when the response ends; before, the service is only asked whether any are left',
    sample: SAMPLE,
    change: changing('GwPolicy/rate-limit-global-closed', {
      traffic: {
        rateLimit: { global: { descriptors: [{ unit: 'Tokens', cost: 'response.code / 100', entries: [USER] }] } },
      },
    }),
    async run(gateway) {
      await gateway.echo('/closed', as('grace'))
      await expect.poll(async () => (await gateway.ask('/closed', as('grace'))).status).toBe(429)
    },
  },
]
