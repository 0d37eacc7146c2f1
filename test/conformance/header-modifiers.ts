// traffic.headerModifiers: set, add and remove on both sides.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'HeaderModifiers',
    description: 'requests and responses are changed before they are forwarded',
    sample: 'header-modifiers.yaml',
    async run(gateway) {
      const headers = { 'x-team': 'intruder', 'x-hop': 'client', 'x-debug': '1' }
      const echo = await gateway.echo('/', { headers })
      expect(echo.headers).toMatchObject({ 'x-team': 'shop', 'x-hop': 'client, gw' })
      expect(echo.headers).not.toHaveProperty('x-debug')
      const answer = await gateway.ask('/')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers).not.toHaveProperty('x-powered-by')
    },
  },
  {
    shortName: 'HeaderModifiersAdd',
    description: 'a header is added to the response beside the existing value',
    sample: 'header-modifiers.yaml',
    change: changing('GwPolicy/header-modifiers', {
      traffic: {
        phase: 'PostRouting',
        headerModifiers: { response: { add: [{ name: 'x-powered-by', value: 'gw' }], remove: null } },
      },
    }),
    async run(gateway) {
      expect((await gateway.ask('/')).headers['x-powered-by']).toBe('echo, gw')
    },
  },
]
