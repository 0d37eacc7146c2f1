// traffic.transformation: headers, metadata and bodies computed by CEL, plain and conditional.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'transformation.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Transformation',
    description: 'headers and body of both sides are computed, and metadata is carried from request to response',
    sample: SAMPLE,
    async run(gateway) {
      const headers = { host: 'shop.example.com', 'x-tenant': 'intruder', 'x-debug': '1' }
      const answer = await gateway.ask('/plain/x?y=1', { headers })
      expect(answer).toMatchObject({ status: 200, headers: { 'x-status': '200' } })
      expect(JSON.parse(answer.text)).toEqual({ path: '/plain/x?y=1', tenant: 'shop' })
    },
  },
  {
    shortName: 'TransformationRequest',
    description: 'the backend gets the changed request',
    sample: SAMPLE,
    change: replacing(`\n        body: '{"path": json(response.body).path, "tenant": metadata.tenant}'`, ''),
    async run(gateway) {
      const headers = { host: 'shop.example.com', 'x-tenant': 'intruder', 'x-debug': '1' }
      const echo = await gateway.echo('/plain', { headers })
      expect(echo.headers['x-tenant']).toBe('shop')
      expect(echo.headers).not.toHaveProperty('x-debug')
    },
  },
  {
    shortName: 'TransformationConditional',
    description: 'the first entry whose condition is true applies',
    sample: SAMPLE,
    async run(gateway) {
      const apiOf = async (headers: Record<string, string>): Promise<string | undefined> =>
        (await gateway.echo('/versioned', { headers })).headers['x-api']
      expect(await apiOf({ 'x-version': '2' })).toBe('v2')
      expect(await apiOf({ 'x-version': '3' })).toBe('v1')
      expect(await apiOf({})).toBe('v1')
    },
  },
  {
    shortName: 'TransformationBroken',
    description: 'a header whose expression fails is removed, and the status names the expression',
    sample: SAMPLE,
    change: replacing('value: string(response.code)', 'value: string(response.'),
    async run(gateway) {
      const answer = await gateway.ask('/plain')
      expect(answer.status).toBe(200)
      expect(answer.headers).not.toHaveProperty('x-status')
      const [accepted] = gateway.conditions('GwPolicy', 'transformation-plain')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.transformation.response.set[0].value')
    },
  },
  {
    shortName: 'TransformationBothSides',
    description: 'every part of a transformation works on requests and on responses',
    sample: SAMPLE,
    change: changing('GwPolicy/transformation-plain', {
      traffic: {
        transformation: {
          request: {
            add: [{ name: 'x-hop', value: '"gw"' }],
            body: '{"tenant": metadata.tenant, "was": string(request.body)}',
          },
          response: {
            metadata: { server: 'response.headers["x-powered-by"]' },
            add: [{ name: 'cache-control', value: '"no-store"' }],
            set: [{ name: 'x-server', value: 'metadata.server + " for " + metadata.tenant' }],
            remove: ['x-powered-by'],
            body: null,
          },
        },
      },
    }),
    async run(gateway) {
      const headers = { host: 'shop.example.com', 'x-hop': 'client' }
      const answer = await gateway.ask('/plain', { method: 'POST', headers, body: 'hello' })
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-server': 'echo for shop' })
      expect(answer.headers).not.toHaveProperty('x-powered-by')
      const echo: unknown = JSON.parse(answer.text)
      expect(echo).toMatchObject({ body: '{"tenant":"shop","was":"hello"}', headers: { 'x-hop': 'client, gw' } })
    },
  },
]
