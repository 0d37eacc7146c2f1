// traffic.rateLimit: local limits by requests and by LLM tokens.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'

const SAMPLE = 'rate-limit.yaml'
const REFUSED = { status: 429, text: 'rate limit exceeded' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RateLimitRequests',
    description: 'limit and burst pass, the next request gets 429; every response has the remaining number',
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
    description: 'tokens are counted when a request ends, so the request that exceeds the limit still succeeds',
    sample: SAMPLE,
    async run(gateway) {
      // "hello there" and its response are 2 + 4 tokens.
      expect((await chat(gateway, 'hello there')).status).toBe(200)
      const { status, text } = await chat(gateway, 'hello there')
      // In the format of the client.
      expect([status, JSON.parse(text)]).toMatchObject([429, { error: { message: 'rate limit exceeded' } }])
    },
  },
  {
    shortName: 'RateLimitConditional',
    description: 'the first entry whose condition is true applies, with its own bucket',
    sample: SAMPLE,
    async run(gateway) {
      const gold = { headers: { 'x-plan': 'gold' } }
      expect((await gateway.ask('/plans')).headers).toMatchObject({ 'x-ratelimit-limit': '1' })
      expect(await gateway.ask('/plans')).toMatchObject(REFUSED)
      for (const remaining of ['4', '3', '2', '1', '0']) {
        const { status, headers } = await gateway.ask('/plans', gold)
        expect(status).toBe(200)
        expect(headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': remaining })
      }
      expect(await gateway.ask('/plans', gold)).toMatchObject(REFUSED)
      expect(gateway.source.problems).toEqual([])
    },
  },
  {
    shortName: 'RateLimitUnits',
    description: 'headers show the limit with the fewest requests left, and each exhausted limit rejects requests',
    sample: SAMPLE,
    change: changing('GwPolicy/rate-limit-requests', {
      traffic: {
        rateLimit: {
          local: [
            { requests: 100, unit: 'Seconds' },
            { requests: 2, unit: 'Minutes' },
          ],
        },
      },
    }),
    async run(gateway) {
      for (const remaining of ['1', '0']) {
        const { headers } = await gateway.ask('/requests')
        expect(headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': remaining })
      }
      const refused = await gateway.ask('/requests')
      expect(refused).toMatchObject(REFUSED)
      expect(Number(refused.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60)
    },
  },
]
