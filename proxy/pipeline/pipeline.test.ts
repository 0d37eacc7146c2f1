// The whole way of a request through a real proxy: what answers where, and with what.
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy, TrafficPayload } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'

let upstream: Server
let gateway: TestProxy
/** Answers later than any timeout of these tests. */
const held: (() => void)[] = []

interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const routePolicy = (route: string, traffic: TrafficPayload): Policy => ({
  key: `traffic/ns/${route}:${Object.keys(traffic).join()}`,
  name: { kind: 'GwPolicy', namespace: 'ns', name: route },
  target: { route: { kind: 'HTTPRoute', namespace: 'ns', name: route } },
  policy: { traffic },
})

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/slow') {
        held.push(() => response.end())
        return
      }
      const body = Buffer.concat(chunks).toString('latin1')
      const seen: Seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
      response.setHeader('x-upstream', 'yes')
      response.end(JSON.stringify(seen))
    })
  })
  const port = await listening(upstream)
  const dead = await freePort()
  const live = { static: { host: '127.0.0.1', port } }
  const route = (name: string, inline?: TrafficPayload, backend: TestRoute['backend'] = live): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend,
    ...(inline && { inline }),
  })
  gateway = await testProxy({
    routes: [
      route('plain'),
      route('rewritten', { urlRewrite: { path: { prefix: '/base' }, host: 'other.example' } }),
      route('slow', { timeouts: { requestMs: 200 }, urlRewrite: { path: { full: '/slow' } } }),
      route('slow-backend', { timeouts: { backendRequestMs: 200 }, urlRewrite: { path: { full: '/slow' } } }),
      route('dead', undefined, { static: { host: '127.0.0.1', port: dead } }),
      route('nowhere', undefined, { static: { host: 'no-such-host.invalid', port: 80 } }),
      route('broken', undefined, { invalid: 'secret ns/x not found' }),
      route('dynamic', undefined, { dynamic: {} }),
      route('runtime', undefined, { agentCore: { agentRuntimeRef: 'demo' } }),
      route('untyped', undefined, {}),
      route('body-rule'),
      route('body-header', {
        transformation: { request: { set: [{ name: 'x-size', expression: 'string(size(request.body))' }] } },
      }),
      route('answer-header', {
        transformation: { response: { set: [{ name: 'x-path', expression: 'json(response.body).path' }] } },
      }),
      route('local', {
        directResponse: { status: 299, body: 'made here' },
        responseHeaderModifier: { set: [{ name: 'x-mod', value: 'm' }] },
      }),
      route('denied', { deny: { field: 'traffic.jwtAuthentication', message: 'not run by this version' } }),
    ],
    policies: [
      routePolicy('body-rule', {
        authorization: { action: 'Allow', matchExpressions: ['string(request.body).contains("open sesame")'] },
      }),
    ],
    change: (config) => {
      const [listener] = config.listeners
      const [first] = config.routes
      if (listener === undefined || first === undefined) throw new Error('configFor makes a listener and routes')
      const invalid = { reason: 'ServiceNotFound', message: 'Service ns/s not found' } as const
      return {
        ...config,
        listeners: [
          listener,
          {
            ...listener,
            key: 'ns/gw.named',
            hostname: 'named.example',
            name: { ...listener.name, listenerName: 'named' },
          },
        ],
        routes: [
          ...config.routes,
          { ...first, key: 'ns/empty.00.http', matches: [{ path: { exact: '/empty' } }], backends: [] },
          {
            ...first,
            key: 'ns/gone.00.http',
            matches: [{ path: { exact: '/gone' } }],
            backends: [{ weight: 1, ref: { invalid } }],
          },
        ],
      }
    },
  })
})

afterAll(async () => {
  for (const release of held) release()
  await gateway.stop()
  closeServer(upstream)
})

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(gateway.url + path, init)

async function answerOf(path: string, init?: RequestInit): Promise<[number, string]> {
  const response = await get(path, init)
  return [response.status, await response.text()]
}

const seenBy = async (response: Response): Promise<Seen> => (await response.json()) as Seen // the upstream's own answer

describe('pipeline', () => {
  it('forwards method, path, query, headers and body', async () => {
    const response = await get('/plain/x?a=1&b=%20', { method: 'PUT', body: 'content', headers: { 'x-a': '1' } })
    expect(response.headers.get('x-upstream')).toBe('yes')
    expect(await seenBy(response)).toMatchObject({
      method: 'PUT',
      path: '/plain/x?a=1&b=%20',
      body: 'content',
      headers: { 'x-a': '1', host: `127.0.0.1:${gateway.port}` },
    })
  })

  it('rewrites path and host', async () => {
    const seen = await seenBy(await get('/rewritten/deep?q=1'))
    expect(seen).toMatchObject({ path: '/base/deep?q=1', headers: { host: 'other.example' } })
  })

  it.each([
    ['/unknown', 404, 'route not found'],
    ['/empty', 500, 'no valid backends'],
    ['/gone', 500, 'service not found'],
    ['/broken', 500, 'backend does not exist'],
    ['/runtime', 500, 'backend does not exist'],
    ['/untyped', 500, 'invalid backend type'],
    ['/dynamic', 403, 'destination not allowed'],
    ['/dead', 503, 'upstream call failed: connection refused'],
    ['/nowhere', 503, 'backends required DNS resolution which failed'],
    ['/slow', 504, 'request timeout'],
    ['/slow-backend', 504, 'upstream call timeout'],
    ['/denied', 403, 'denied by policy'],
  ])('%s answers %d', async (path, status, text) => {
    expect(await answerOf(path)).toEqual([status, text])
  })

  it('finds no route on a listener that has none, and picks listeners by host', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest(`${gateway.url}/plain`, { headers: { host: 'named.example' } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(404)
  })

  it('answers 405 to CONNECT', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port: gateway.port, method: 'CONNECT', path: 'x:1', headers: { host: 'x:1' } })
        .on('connect', (response) => resolve(response.statusCode))
        .on('response', (response) => resolve(response.statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(405)
  })

  it('gives gRPC clients their own form of failures', async () => {
    const response = await get('/unknown', { headers: { 'content-type': 'application/grpc' } })
    expect([response.status, response.headers.get('grpc-status'), response.headers.get('grpc-message')]).toEqual([
      200,
      '12',
      'route%20not%20found',
    ])
  })

  it('runs response filters on what it makes itself', async () => {
    const response = await get('/local')
    expect([response.status, response.headers.get('x-mod'), await response.text()]).toEqual([299, 'm', 'made here'])
  })
})

describe('bodies read by expressions', () => {
  it('are buffered for rules and forwarded whole', async () => {
    expect(await answerOf('/body-rule', { method: 'POST', body: 'nothing' })).toEqual([403, 'authorization failed'])
    const response = await get('/body-rule', { method: 'POST', body: 'say open sesame' })
    expect((await seenBy(response)).body).toBe('say open sesame')
  })

  it('deny when they are one byte over the limit, and are streamed if no rule reads them', async () => {
    const limit = 2 * 1024 * 1024
    const fits = `open sesame${'x'.repeat(limit - 11)}`
    expect((await answerOf('/body-rule', { method: 'POST', body: fits }))[0]).toBe(200)
    expect((await answerOf('/body-rule', { method: 'POST', body: `${fits}x` }))[0]).toBe(403)
    const streamed = await seenBy(await get('/body-header', { method: 'POST', body: `${fits}x` }))
    expect(streamed.body.length).toBe(limit + 1)
    expect(streamed.headers['x-size']).toBeUndefined()
    const counted = await seenBy(await get('/body-header', { method: 'POST', body: fits }))
    expect(counted.headers['x-size']).toBe(String(limit))
  })

  it('are read from responses too', async () => {
    const response = await get('/answer-header/y')
    expect(response.headers.get('x-path')).toBe('/answer-header/y')
    expect((await seenBy(response)).path).toBe('/answer-header/y')
  })
})
