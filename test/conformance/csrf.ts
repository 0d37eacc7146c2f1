// traffic.csrf: unsafe cross-site requests.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const REFUSED = { status: 403, text: 'CSRF validation failed' }

const post = (gateway: SampleGateway, headers: Record<string, string>) =>
  gateway.ask('/', { method: 'POST', headers, body: 'x' })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'CSRFRefusesCrossSite',
    description: 'an unsafe request from another site gets 403',
    sample: 'csrf.yaml',
    async run(gateway) {
      expect(await post(gateway, { 'sec-fetch-site': 'cross-site' })).toMatchObject(REFUSED)
      expect(await post(gateway, { 'sec-fetch-site': 'same-site' })).toMatchObject(REFUSED)
      expect(await post(gateway, { origin: 'https://evil.example' })).toMatchObject(REFUSED)
      const fooled = { 'sec-fetch-site': 'cross-site', origin: gateway.url }
      expect(await post(gateway, fooled)).toMatchObject(REFUSED)
    },
  },
  {
    shortName: 'CSRFAllowsTheRest',
    description: 'safe methods, own and listed origins, and clients other than browsers pass',
    sample: 'csrf.yaml',
    async run(gateway) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
        expect((await gateway.ask('/', { method, headers })).status, `method ${method}`).toBe(200)
      }
      const trusted: Record<string, string>[] = [
        {},
        { 'sec-fetch-site': 'same-origin' },
        { 'sec-fetch-site': 'none' },
        { origin: gateway.url },
        { origin: 'https://shop.example.com' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example.com' },
      ]
      for (const headers of trusted) {
        expect((await post(gateway, headers)).status, `POST with ${JSON.stringify(headers)}`).toBe(200)
      }
    },
  },
]
