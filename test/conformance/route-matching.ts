// HTTPRoute matching: which rule of a route serves a request.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

const HOST = { host: 'shop.example.com' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteMatching',
    description: 'host, path, method, header and query parameter decide, the more specific match first',
    sample: 'route-matching.yaml',
    async run(gateway) {
      const ruleOf = async (path: string, method = 'GET', headers = {}): Promise<unknown> =>
        (await gateway.ask(path, { method, headers: { ...HOST, ...headers } })).headers['x-rule']
      expect(await ruleOf('/orders')).toBe('exact')
      expect(await ruleOf('/orders/7')).toBe('prefix')
      expect(await ruleOf('/orders/')).toBe('prefix')
      expect(await ruleOf('/orders/7', 'DELETE')).toBe('method')
      expect(await ruleOf('/anything', 'GET', { 'x-version': '2' })).toBe('header')
      expect(await ruleOf('/anything?preview=on')).toBe('query')
      expect(await ruleOf('/items/42')).toBe('pattern')
    },
  },
  {
    shortName: 'RouteNotFound',
    description: 'what no rule matches, and what is for another host, gets 404',
    sample: 'route-matching.yaml',
    async run(gateway) {
      const notFound = { status: 404, text: 'route not found' }
      for (const path of ['/ordersx', '/items/abc', '/items/42/x', '/anything?preview=off']) {
        expect(await gateway.ask(path, { headers: HOST }), `GET ${path}`).toMatchObject(notFound)
      }
      expect(await gateway.ask('/orders', { headers: { host: 'other.example.com' } })).toMatchObject(notFound)
    },
  },
]
