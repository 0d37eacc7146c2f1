// traffic.rateLimit: local limits by requests and by LLM tokens.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'

const SAMPLE = 'rate-limit.yaml'
const REFUSED = { status: 429, text: 'rate limit exceeded' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RateLimitRequests',
    description: 'limit and burst pass, the next request gets 429; every answer says what is left',
    sample: SAMPLE,
    async run(gateway) {
      for (const remaining of ['2', '1', '0']) {
        const { status, headers } = await gateway.ask('/requests')
        expect(status).toBe(200)
        expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': remaining })
      }
      const refused = await gateway.ask('/requests')
      expect(refused).toMatchObject(REFUSED)
      expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' })
      expect(Number(refused.headers['x-ratelimit-reset'])).toBeGreaterThan(0)
    },
  },
  {
    shortName: 'RateLimitTokens',
    description: 'tokens are charged when a request is over, so the one that passes the limit still succeeds',
    sample: SAMPLE,
    async run(gateway) {
      // "hello there" and its answer are 2 + 4 tokens.
      expect((await chat(gateway, 'hello there')).status).toBe(200)
      expect(await chat(gateway, 'hello there')).toMatchObject(REFUSED)
    },
  },
  {
    shortName: 'RateLimitNotRun',
    description: 'a form of the limit that this version does not run refuses what it covers',
    sample: SAMPLE,
    change: replacing(
      `    rateLimit:
      local:
        - requests: 2
          burst: 1
          unit: Hours`,
      `    rateLimit:
      conditional:
        - policy:
            local:
              - requests: 2
                unit: Hours`,
    ),
    async run(gateway) {
      expect(await gateway.ask('/requests')).toMatchObject({ status: 403, text: 'denied by policy' })
      expect((await chat(gateway, 'hello there')).status).toBe(200)
      const [accepted] = gateway.conditions('GwPolicy', 'rate-limit-requests')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('traffic.rateLimit.conditional is not run by this version')
      expect(gateway.source.problems.map(({ path }) => path)).toContain('spec.traffic.rateLimit.conditional')
    },
  },
]
