// HTTPRoute filters RequestHeaderModifier and ResponseHeaderModifier.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'route-headers.yaml'
const ECHO = { group: 'gw.dev', kind: 'GwBackend', name: 'echo' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteHeaders',
    description: 'the backend gets the changed request, and the client the changed response',
    sample: SAMPLE,
    async run(gateway) {
      const headers = { 'x-team': 'intruder', 'x-debug': '1', 'x-hop': 'client' }
      const echo = await gateway.echo('/', { headers })
      expect(echo.headers).toMatchObject({ 'x-team': 'shop', 'x-hop': 'client, gw' })
      expect(echo.headers).not.toHaveProperty('x-debug')
      const answer = await gateway.ask('/')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers).not.toHaveProperty('x-powered-by')
    },
  },
  {
    shortName: 'RouteHeadersMissingBackend',
    description: 'responses of the gateway itself also have the headers',
    sample: SAMPLE,
    change: changing('HTTPRoute/route-headers', {
      rules: [
        {
          filters: [
            {
              type: 'ResponseHeaderModifier',
              responseHeaderModifier: { set: [{ name: 'cache-control', value: 'no-store' }] },
            },
          ],
          backendRefs: [{ ...ECHO, name: 'nowhere' }],
        },
      ],
    }),
    async run(gateway) {
      const answer = await gateway.ask('/')
      expect(answer.status).toBe(500)
      expect(answer.headers['cache-control']).toBe('no-store')
    },
  },
]
