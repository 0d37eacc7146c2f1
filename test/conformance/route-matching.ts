// HTTPRoute matching: which rule of a route serves a request.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'

const HOST = { host: 'shop.example.com' }

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH']

const echo = { backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo' }] }
const saying = (value: string): object => ({
  filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'x-rule', value }] } }],
  ...echo,
})

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
    description: 'requests that no rule matches, and requests for another host, get 404',
    sample: 'route-matching.yaml',
    async run(gateway) {
      const notFound = { status: 404, text: 'route not found' }
      for (const path of ['/ordersx', '/items/abc', '/items/42/x', '/anything?preview=off']) {
        expect(await gateway.ask(path, { headers: HOST }), `GET ${path}`).toMatchObject(notFound)
      }
      expect(await gateway.ask('/orders', { headers: { host: 'other.example.com' } })).toMatchObject(notFound)
    },
  },
  {
    shortName: 'RouteMethods',
    description: 'each method matches the rule that names it',
    sample: 'route-matching.yaml',
    change: changing('HTTPRoute/route-matching', {
      rules: METHODS.map((method) => ({ matches: [{ method }], ...saying(`of-${method}`) })),
    }),
    async run(gateway) {
      for (const method of METHODS) {
        const { status, headers } = await gateway.ask('/orders', { method, headers: HOST })
        expect([status, headers['x-rule']]).toEqual([200, `of-${method}`])
      }
      expect(await gateway.ask('/orders', { method: 'PROPFIND', headers: HOST })).toMatchObject({ status: 404 })
    },
  },
  {
    shortName: 'RouteMatchTypes',
    description: 'header fields and query parameters match exactly, or by a regular expression',
    sample: 'route-matching.yaml',
    change: changing('HTTPRoute/route-matching', {
      rules: [
        { matches: [{ headers: [{ type: 'Exact', name: 'x-version', value: '2.0' }] }], ...saying('exact header') },
        {
          matches: [{ headers: [{ type: 'RegularExpression', name: 'x-version', value: '2.0' }] }],
          ...saying('header'),
        },
        { matches: [{ queryParams: [{ type: 'Exact', name: 'page', value: '1+' }] }], ...saying('exact query') },
        { matches: [{ queryParams: [{ type: 'RegularExpression', name: 'page', value: '1+' }] }], ...saying('query') },
      ],
    }),
    async run(gateway) {
      const ruleOf = async (query: string, headers = {}): Promise<unknown> => {
        const { status, headers: answered } = await gateway.ask(`/orders${query}`, { headers: { ...HOST, ...headers } })
        return answered['x-rule'] ?? status
      }
      expect(await ruleOf('', { 'x-version': '2.0' })).toBe('exact header')
      expect(await ruleOf('', { 'x-version': '2x0' })).toBe('header')
      expect(await ruleOf('', { 'x-version': '2.01' })).toBe(404)
      expect(await ruleOf('?page=1%2B')).toBe('exact query')
      expect(await ruleOf('?page=111')).toBe('query')
      expect(await ruleOf('?page=112')).toBe(404)
    },
  },
]
