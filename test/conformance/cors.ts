// traffic.cors: preflights and the headers of other requests.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'CORSPreflight',
    description: 'preflights are answered by the gateway, with headers only for allowed origins',
    sample: 'cors.yaml',
    async run(gateway) {
      const ask = (origin: string) => gateway.ask('/', { method: 'OPTIONS', headers: { origin, ...PREFLIGHT } })
      for (const origin of ['https://shop.example.com', 'https://a.b.example.org']) {
        const { status, headers, text } = await ask(origin)
        expect({ status, text }).toEqual({ status: 200, text: '' })
        expect(headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET,POST',
          'access-control-allow-headers': 'content-type,x-request-id',
          'access-control-allow-credentials': 'true',
          'access-control-max-age': '600',
        })
      }
      for (const origin of ['https://evil.example', 'http://shop.example.com', 'https://example.org.evil.example']) {
        const { status, headers, text } = await ask(origin)
        expect({ origin, status, text }).toEqual({ origin, status: 200, text: '' })
        expect(headers).not.toHaveProperty('access-control-allow-origin')
      }
    },
  },
  {
    shortName: 'CORSRequest',
    description: 'other requests reach the backend; allowed origins may read the response',
    sample: 'cors.yaml',
    async run(gateway) {
      const allowed = await gateway.ask('/', { headers: { origin: 'https://shop.example.com' } })
      expect(allowed.headers).toMatchObject({
        'access-control-allow-origin': 'https://shop.example.com',
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'x-powered-by',
        'x-powered-by': 'echo',
      })
      const other = await gateway.ask('/', { headers: { origin: 'https://evil.example' } })
      expect(other).toMatchObject({ status: 200, headers: { 'x-powered-by': 'echo' } })
      expect(other.headers).not.toHaveProperty('access-control-allow-origin')
    },
  },
  {
    shortName: 'CORSEveryMethod',
    description: 'the wildcard allows the requested method',
    sample: 'cors.yaml',
    change: changing('GwPolicy/cors', { traffic: { cors: { allowMethods: ['*'] } } }),
    async run(gateway) {
      const headers = { origin: 'https://shop.example.com', 'access-control-request-method': 'PATCH' }
      const answer = await gateway.ask('/', { method: 'OPTIONS', headers })
      expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-methods': 'PATCH' } })
    },
  },
  {
    shortName: 'CORSPreRouting',
    description: 'before routing it answers preflights for paths without a route',
    sample: 'cors.yaml',
    change: replacing(
      '      kind: HTTPRoute\n      name: cors\n  traffic:\n',
      '      kind: Gateway\n      name: cors\n  traffic:\n    phase: PreRouting\n',
    ),
    async run(gateway) {
      const headers = { origin: 'https://shop.example.com', ...PREFLIGHT }
      const { status, headers: answered } = await gateway.ask('/', { method: 'OPTIONS', headers })
      expect([status, answered['access-control-allow-origin']]).toEqual([200, 'https://shop.example.com'])
    },
  },
  {
    shortName: 'CORSFilter',
    description: 'the filter of a rule replaces the whole policy',
    sample: 'cors.yaml',
    change: changing('HTTPRoute/cors', {
      rules: [
        {
          filters: [{ type: 'CORS', cors: { allowOrigins: ['https://only.example.com'] } }],
          backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo' }],
        },
      ],
    }),
    async run(gateway) {
      const { headers } = await gateway.ask('/', { headers: { origin: 'https://only.example.com' } })
      expect(headers).toMatchObject({ 'access-control-allow-origin': 'https://only.example.com' })
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      const other = await gateway.ask('/', { headers: { origin: 'https://shop.example.com' } })
      expect(other.headers).not.toHaveProperty('access-control-allow-origin')
    },
  },
]
