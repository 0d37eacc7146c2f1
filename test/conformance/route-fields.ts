// Fields of HTTPRoute and GRPCRoute without a page: filters of a rule and of a backendRef, regular
// expressions, references to one listener, timeouts and retries of the route, GRPCRoute by method and header.
import http2 from 'node:http2'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'route-matching.yaml'
const ROUTE = 'HTTPRoute/route-matching'
const HOST = { host: 'shop.example.com' }
const ECHO = { group: 'gw.dev', kind: 'GwBackend', name: 'echo' }

const NAMES = { request: 'requestHeaderModifier', response: 'responseHeaderModifier' } as const

function headerFilter(side: 'request' | 'response'): object {
  const type = side === 'request' ? 'RequestHeaderModifier' : 'ResponseHeaderModifier'
  const edits = {
    set: [{ name: 'x-set', value: 'set' }],
    add: [{ name: 'x-add', value: 'added' }],
    remove: ['x-gone', 'x-powered-by'],
  }
  return { type, [NAMES[side]]: edits }
}

const both = [headerFilter('request'), headerFilter('response')]
const redirect = {
  scheme: 'https',
  hostname: 'other.example.com',
  port: 8444,
  statusCode: 308,
  path: { type: 'ReplaceFullPath', replaceFullPath: '/full' },
}
const rewrite = (path: object): object => ({
  type: 'URLRewrite',
  urlRewrite: { hostname: 'inside.example.com', path },
})
const toFull = rewrite({ type: 'ReplaceFullPath', replaceFullPath: '/full' })
const toPrefix = rewrite({ type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' })
const cors = {
  allowOrigins: ['https://app.example.com'],
  allowMethods: ['PUT'],
  allowHeaders: ['x-in'],
  exposeHeaders: ['x-out'],
  allowCredentials: true,
  maxAge: 77,
}

interface Filters {
  readonly ofRule?: readonly object[]
  readonly ofBackend?: readonly object[]
}

function rule(path: string, { ofRule = [], ofBackend = [] }: Filters, more: object = {}): object {
  const backend = { ...ECHO, ...(ofBackend.length > 0 && { filters: ofBackend }) }
  const filters = ofRule.length > 0 && { filters: ofRule }
  return { matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs: [backend], ...filters, ...more }
}

const PARENT = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'route-matching' }

const GRPC = '/envoy.service.auth.v3.Authorization/Check'

interface GrpcAnswer {
  readonly status: unknown
  readonly grpc: unknown
  readonly marks: readonly unknown[]
}

/** An empty message; the service of the samples denies it, with status 0. */
async function call(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<GrpcAnswer> {
  const session = http2.connect(url)
  try {
    const fields = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers }
    const stream = session.request(fields)
    const { promise, resolve, reject } = Promise.withResolvers<GrpcAnswer>()
    let first: http2.IncomingHttpHeaders = {}
    let last: http2.IncomingHttpHeaders = {}
    stream.on('response', (answer) => (first = answer))
    stream.on('trailers', (trailers) => (last = trailers))
    stream.on('error', reject)
    stream.on('end', () => {
      const grpc = last['grpc-status'] ?? first['grpc-status']
      resolve({ status: first[':status'], grpc: Number(grpc), marks: [first['x-set'], first['x-add']] })
    })
    stream.resume()
    stream.end(Buffer.alloc(5))
    return await promise
  } finally {
    session.destroy()
  }
}

const asGrpc = all(
  replacing('kind: HTTPRoute', 'kind: GRPCRoute'),
  changing('GwBackend/echo', { static: { host: '127.0.0.1', port: 18_091 } }),
  changing('GRPCRoute/route-matching', {
    parentRefs: [{ ...PARENT, sectionName: 'http' }],
    rules: [
      {
        name: 'check',
        matches: [
          {
            method: { type: 'Exact', service: 'envoy.service.auth.v3.Authorization', method: 'Check' },
            headers: [{ type: 'RegularExpression', name: 'x-tenant', value: '[a-z]+' }],
          },
        ],
        filters: [headerFilter('response')],
        backendRefs: [{ ...ECHO, weight: 1 }],
      },
    ],
  }),
  (manifests) =>
    `${manifests}---\n${JSON.stringify({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: { name: 'h2', namespace: 'default' },
      spec: { targetRefs: [ECHO], backend: { http: { version: 'HTTP2' } } },
    })}\n`,
)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'HTTPRouteHeaderFilters',
    description: 'headers are set, added and removed by the rule and by the backendRef',
    sample: SAMPLE,
    change: changing(ROUTE, {
      parentRefs: [{ ...PARENT, sectionName: 'http' }],
      rules: [rule('/rule', { ofRule: both }), rule('/backend', { ofBackend: both })],
    }),
    async run(gateway) {
      for (const path of ['/rule', '/backend']) {
        const sent = { 'x-set': 'client', 'x-add': 'client', 'x-gone': 'client' }
        const { headers, text } = await gateway.ask(path, { headers: { ...HOST, ...sent } })
        const got = JSON.parse(text).headers
        expect(got).toMatchObject({ 'x-set': 'set' })
        expect(got['x-add'].split(/, ?/)).toEqual(['client', 'added'])
        expect(got).not.toHaveProperty('x-gone')
        expect(headers).toMatchObject({ 'x-set': 'set', 'x-add': 'added' })
        expect(headers).not.toHaveProperty('x-powered-by')
      }
    },
  },
  {
    shortName: 'HTTPRouteRedirectsAndRewrites',
    description: 'filters of the rule and of the backendRef replace hosts, ports, whole paths and prefixes',
    sample: SAMPLE,
    change: changing(ROUTE, {
      rules: [
        rule('/rule/full', { ofRule: [toFull] }),
        rule('/rule/prefix', { ofRule: [toPrefix] }),
        rule('/backend/full', { ofBackend: [toFull] }),
        rule('/backend/prefix', { ofBackend: [toPrefix] }),
        {
          matches: [{ path: { value: '/redirect' } }],
          filters: [{ type: 'RequestRedirect', requestRedirect: redirect }],
        },
      ],
    }),
    async run(gateway) {
      for (const place of ['/rule', '/backend']) {
        const inside = { host: 'inside.example.com' }
        expect(await gateway.echo(`${place}/full/x`, { headers: HOST })).toMatchObject({
          path: '/full',
          headers: inside,
        })
        expect(await gateway.echo(`${place}/prefix/x`, { headers: HOST })).toMatchObject({
          path: '/new/x',
          headers: inside,
        })
      }
      const { status, headers } = await gateway.ask('/redirect/x', { headers: HOST })
      expect([status, headers.location]).toEqual([308, 'https://other.example.com:8444/full'])
    },
  },
  {
    shortName: 'HTTPRouteCORS',
    description: 'the filter CORS of a rule answers preflights',
    sample: SAMPLE,
    change: changing(ROUTE, { rules: [rule('/', { ofRule: [{ type: 'CORS', cors }] })] }),
    async run(gateway) {
      const asked = { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' }
      const { headers } = await gateway.ask('/', { method: 'OPTIONS', headers: { ...HOST, ...asked } })
      expect(headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example.com',
        'access-control-allow-methods': 'PUT',
        'access-control-allow-headers': 'x-in',
        'access-control-allow-credentials': 'true',
        'access-control-max-age': '77',
      })
      const plain = await gateway.ask('/', { headers: { ...HOST, origin: asked.origin } })
      expect(plain.headers['access-control-expose-headers']).toBe('x-out')
    },
  },
  {
    shortName: 'HTTPRouteExpressions',
    description: 'headers and query parameters match by regular expression, and a reference may name a port',
    sample: SAMPLE,
    change: changing(ROUTE, {
      parentRefs: [{ ...PARENT, port: 8080 }],
      rules: [
        {
          matches: [
            {
              path: { value: '/' },
              headers: [{ type: 'RegularExpression', name: 'x-tenant', value: '[a-z]+' }],
              queryParams: [{ type: 'RegularExpression', name: 'page', value: '\\d+' }],
            },
          ],
          backendRefs: [ECHO],
        },
      ],
    }),
    async run(gateway) {
      const headers = { ...HOST, 'x-tenant': 'acme' }
      expect((await gateway.ask('/?page=12', { headers })).status).toBe(200)
      expect((await gateway.ask('/?page=x', { headers })).status).toBe(404)
      expect((await gateway.ask('/?page=12', { headers: { ...headers, 'x-tenant': 'A1' } })).status).toBe(404)
    },
  },
  {
    shortName: 'HTTPRouteRetry',
    description: 'a rule retries requests that its backend rejects',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/echo', { static: { host: '127.0.0.1', port: 18_089 } }),
      changing(ROUTE, { rules: [rule('/', {}, { retry: { attempts: 2, codes: [503], backoff: '1ms' } })] }),
    ),
    async run(gateway) {
      expect((await gateway.ask('/', { headers: HOST })).status).toBe(200)
      await expect.poll(() => gateway.log()).toContain('retry.attempt=1')
    },
  },
  {
    shortName: 'HTTPRouteTimeouts',
    description: 'a backend that never answers causes a timeout of the rule',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/echo', { static: { host: '127.0.0.1', port: 18_087 } }),
      changing(ROUTE, {
        rules: [
          rule('/request', {}, { timeouts: { request: '100ms' } }),
          rule('/backend', {}, { timeouts: { request: '10s', backendRequest: '100ms' } }),
        ],
      }),
    ),
    async run(gateway) {
      for (const path of ['/request', '/backend']) {
        expect((await gateway.ask(path, { headers: HOST })).status).toBe(504)
      }
    },
  },
  {
    shortName: 'GRPCRoute',
    description: 'calls match by service, method and header; others get UNIMPLEMENTED',
    sample: SAMPLE,
    change: asGrpc,
    async run({ url }) {
      const headers = { ':authority': HOST.host, 'x-tenant': 'acme' }
      expect(await call(url, GRPC, headers)).toEqual({ status: 200, grpc: 0, marks: ['set', 'added'] })
      expect(await call(url, GRPC, { ...headers, 'x-tenant': 'A1' })).toMatchObject({ grpc: 12 })
      expect(await call(url, GRPC.replace('Check', 'Other'), headers)).toMatchObject({ grpc: 12 })
    },
  },
]
