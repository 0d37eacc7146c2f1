// backend.transformation: changes of requests and responses of one backend.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { Echo } from './suite/echo.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendTransformation',
    description: 'the backend gets the computed header, the client does not get the removed one',
    sample: 'backend-transformation.yaml',
    async run(gateway) {
      const echo = await gateway.echo('/', { headers: { 'x-forwarded-by': 'client' } })
      expect(echo.headers['x-forwarded-by']).toBe('default/backend-transformation')
      expect((await gateway.ask('/')).headers).not.toHaveProperty('x-powered-by')
    },
  },
  {
    shortName: 'BackendTransformationBothSides',
    description: 'every part of a transformation works on requests and on responses of a backend',
    sample: 'backend-transformation.yaml',
    change: changing('GwPolicy/backend-transformation', {
      backend: {
        transformation: {
          request: {
            metadata: { tenant: 'request.host.split(".")[0]' },
            add: [{ name: 'x-hop', value: '"gw"' }],
            remove: ['x-debug'],
            body: '{"tenant": metadata.tenant, "was": string(request.body)}',
          },
          response: {
            metadata: { server: 'response.headers["x-powered-by"]' },
            set: [{ name: 'x-server', value: 'metadata.server + " for " + metadata.tenant' }],
            add: [{ name: 'cache-control', value: '"no-store"' }],
            body: '{"body": json(response.body).body, "headers": json(response.body).headers}',
          },
        },
      },
    }),
    async run(gateway) {
      const headers = { host: 'shop.example.com', 'x-hop': 'client', 'x-debug': '1' }
      const answer = await gateway.ask('/', { method: 'POST', headers, body: 'hello' })
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-server': 'echo for shop' })
      const { body, headers: seen } = JSON.parse(answer.text) as Echo // the response body expression writes it
      expect(body).toBe('{"tenant":"shop","was":"hello"}')
      expect(seen['x-hop']).toBe('client, gw')
      expect(seen).not.toHaveProperty('x-debug')
    },
  },
  {
    shortName: 'BackendTransformationBroken',
    description: 'a header whose expression fails is removed, and the status names the expression',
    sample: 'backend-transformation.yaml',
    change: replacing('proxy.gateway.namespace +', 'proxy.gateway.namespace + +'),
    async run(gateway) {
      const echo = await gateway.echo('/', { headers: { 'x-forwarded-by': 'client' } })
      expect(echo.headers).not.toHaveProperty('x-forwarded-by')
      const [accepted] = gateway.conditions('GwPolicy', 'backend-transformation')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.backend.transformation.request.set[0].value')
    },
  },
]
