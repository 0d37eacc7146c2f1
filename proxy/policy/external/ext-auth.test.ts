// The policy with real authorization services on loopback: HTTP mode, bodies, failures, cache, conditions. The content
// of gRPC messages: ext-auth/grpc.test.ts.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { ExtAuth, ExtAuthOrConditional } from '#api/ir/types.gen.ts'
import { Authorization, CheckResponseSchema } from '../../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { grpcServer, unaryMethod, until } from '../../grpc/server.testing.ts'
import type { HttpResponse } from '../../message/message.ts'
import { exchangeOf, expression, fieldsOf, textOf, type ExchangeParts } from '../exchange.testing.ts'
import { compileExtAuth } from './ext-auth.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { testService, type TestService } from './service.testing.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answer = (response: ServerResponse, received: Received) => void

async function httpService(answer: Answer): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      answer(response, one)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, received } // a listening TCP server has one
}

function serviceAt(port: number, timeoutMs?: number): TestService {
  const service = testService(port, timeoutMs === undefined ? {} : { timeoutMs })
  open.push(() => service.close())
  return service
}

const BASE: ExtAuth = { service: { backend: 'ns/authz' }, failureMode: 'FailClosed' }

function compile(policy: ExtAuthOrConditional, service: TestService | undefined): CompiledPolicy {
  return compileExtAuth(policy, { expression, service: () => service?.caller })
}

async function run(policy: CompiledPolicy, exchange: Exchange): Promise<HttpResponse | undefined> {
  const verdict = await policy.request?.(exchange)
  if (verdict !== undefined) exchange.response = verdict
  return verdict
}

const allow: Answer = (response) => response.end()

async function viaHttp(
  http_: NonNullable<ExtAuth['http']>,
  answer: Answer,
  parts: ExchangeParts & { more?: Partial<ExtAuth> } = {},
): Promise<{ exchange: Exchange; response: HttpResponse | undefined; received: Received | undefined }> {
  const { port, received } = await httpService(answer)
  const exchange = exchangeOf(parts)
  const response = await run(compile({ ...BASE, http: http_, ...parts.more }, serviceAt(port)), exchange)
  return { exchange, response, received: received[0] }
}

describe('the HTTP check', () => {
  const headers = [
    ['authorization', 'Bearer t'],
    ['cookie', 'a=1'],
    ['x-a', '1'],
  ] as const

  it('contains method, path and credentials, and nothing else', async () => {
    const { received, response } = await viaHttp({}, allow, { method: 'PUT', path: '/a', query: 'b=c', headers })
    expect(response).toBeUndefined()
    expect(received).toMatchObject({ method: 'PUT', url: '/a?b=c', body: '' })
    expect(received?.headers).toMatchObject({ authorization: 'Bearer t', host: 'service.test' })
    expect(received?.headers).not.toHaveProperty('cookie')
    expect(received?.headers).not.toHaveProperty('x-a')
  })

  it('has the method and the authority of added parts', async () => {
    const addRequestHeaders = [
      { name: ':method', expression: '"POST"' },
      { name: ':authority', expression: '"tokens.example"' },
    ]
    const { received, response } = await viaHttp({ addRequestHeaders, body: '"a=b"' }, allow)
    expect(response).toBeUndefined()
    expect(received).toMatchObject({ method: 'POST', body: 'a=b', headers: { host: 'tokens.example' } })
  })

  it.each(['"po st"', 'request.headers["missing"]', '""'])('fails if %s is its method', async (expression) => {
    const { received, response } = await viaHttp({ addRequestHeaders: [{ name: ':method', expression }] }, allow)
    expect(received).toBeUndefined()
    expect(response?.status).toBe(403)
  })

  it('contains the parts that the policy names', async () => {
    const { received } = await viaHttp(
      {
        path: '"/check" + request.path + "?from=gw"',
        body: '{"path": request.path}',
        addRequestHeaders: [
          { name: 'X-A', expression: '"added"' },
          { name: 'x-none', expression: 'request.headers["missing"]' },
          { name: 'content-length', expression: '"1"' },
        ],
      },
      allow,
      { method: 'POST', path: '/a', headers, more: { allowedRequestHeaders: ['x-a', 'cookie', ':authority'] } },
    )
    expect(received).toMatchObject({ method: 'POST', url: '/check/a?from=gw', body: '{"path":"/a"}' })
    expect(received?.headers).toMatchObject({ 'x-a': 'added', cookie: 'a=1', host: 'example.com' })
    expect(received?.headers).not.toHaveProperty('authorization')
    expect(received?.headers).not.toHaveProperty('x-none')
  })

  it.each([['request.headers["missing"]'], ['"no slash"'], ['"/a b"'], ['{"a": 1}']])(
    'is not asked, and the request refused, with path %s',
    async (path) => {
      const { received, response } = await viaHttp({ path }, allow)
      expect(received).toBeUndefined()
      expect(response?.status).toBe(403)
    },
  )

  it.each([
    [5, undefined],
    [4, 413],
  ])('with a limit of %i bytes sends a body of 5 or returns %s', async (bytesMax, status) => {
    const parts = { method: 'POST', body: 'hello', more: { forwardBody: { bytesMax } } }
    const { received, response, exchange } = await viaHttp({}, allow, parts)
    expect(response?.status).toBe(status)
    expect(received?.body).toBe(status === undefined ? 'hello' : undefined)
    expect(received?.headers['x-envoy-auth-partial-body']).toBe(status === undefined ? 'false' : undefined)
    expect(exchange.request.body).toEqual(Buffer.from('hello'))
  })
})

describe('the HTTP response', () => {
  const answering =
    (status: number, headers: http.OutgoingHttpHeaders = {}, body = ''): Answer =>
    (response) =>
      response.writeHead(status, headers).end(body)

  it('200 replaces request headers by the listed headers of the response, and sets the metadata', async () => {
    const { exchange, response } = await viaHttp(
      {
        allowedResponseHeaders: ['x-user', 'x-missing'],
        responseMetadata: [
          { name: 'user', expression: 'json(response.body).user' },
          { name: 'code', expression: 'response.code' },
          { name: 'path', expression: 'request.path' },
          { name: 'bad', expression: 'response.headers["missing"]' },
        ],
      },
      answering(200, { 'x-user': ['ann', 'bob'], 'x-other': '1' }, '{"user":"ann"}'),
      {
        headers: [
          ['x-user', 'admin'],
          ['x-missing', 'admin'],
        ],
      },
    )
    expect(response).toBeUndefined()
    expect(exchange.response).toBeUndefined()
    expect(fieldsOf(exchange.request.headers)).toEqual(['x-user: ann', 'x-user: bob'])
    expect({ ...(exchange.attributes?.['extauthz'] as object) }).toEqual({ user: 'ann', code: 200n, path: '/' })
  })

  it.each([201, 202, 204, 299])('%i does not allow, and must not look like success', async (status) => {
    const { response } = await viaHttp({}, answering(status))
    expect(response).toMatchObject({ status: 403, body: 'external authorization failed' })
  })

  it.each([302, 401, 403, 404, 429, 500, 503])('%i is sent to the client unchanged', async (status) => {
    const { response, exchange } = await viaHttp({}, answering(status, { 'x-why': 'b', location: '/l' }, 'because'))
    expect(response?.status).toBe(status)
    expect(textOf(response?.body)).toBe('because')
    expect(response?.headers.get('x-why')).toBe('b')
    expect(response?.headers.has('connection') || response?.headers.has('content-length')).toBe(false)
    expect(exchange.reason).toBe('ExtAuth')
  })

  it.each([
    [401, 302],
    [403, 302],
    [404, 404],
  ])('%i with a redirect is %i', async (status, expected) => {
    const redirect = '"https://login.test/?to=" + url.encode(request.path)'
    const { response } = await viaHttp({ redirect }, answering(status), { path: '/a/b' })
    expect(response?.status).toBe(expected)
    expect(response?.headers.get('location')).toBe(expected === 302 ? 'https://login.test/?to=%2Fa%2Fb' : undefined)
  })

  it('401 with a redirect that fails stays 401', async () => {
    expect((await viaHttp({ redirect: 'request.headers["none"]' }, answering(401))).response?.status).toBe(401)
  })
})

describe('a service that fails', () => {
  async function tcp(onSocket: (socket: net.Socket) => void): Promise<number> {
    const sockets: net.Socket[] = []
    const server = net.createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      onSocket(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    open.push(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return (server.address() as AddressInfo).port // a listening TCP server has one
  }

  const FAULTS: Record<string, (socket: net.Socket) => void> = {
    'a black hole': () => undefined,
    'a reset': (socket) => socket.resetAndDestroy(),
    garbage: (socket) => socket.end('\u0000\u0001 garbage'),
    'a head without a body': (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'),
    'an endless body': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
      const more = (): void => {
        while (socket.writable && socket.write(chunk));
      }
      socket.on('drain', more)
      more()
    },
  }
  const MODES = { grpc: { grpc: {} }, http: { http: {} } }

  describe.each(Object.entries(MODES))('over %s', (_, mode) => {
    it.each(Object.entries(FAULTS))(
      'with %s refuses under FailClosed and passes under FailOpen',
      async (_name, fault) => {
        const port = await tcp(fault)
        const service = serviceAt(port, 250)
        const closed = exchangeOf()
        const response = await run(compile({ ...BASE, ...mode }, service), closed)
        expect(response).toMatchObject({ status: 403, body: 'external authorization failed' })
        expect(closed.reason).toBe('ExtAuth')
        const opened = exchangeOf()
        expect(await run(compile({ ...BASE, ...mode, failureMode: 'FailOpen' }, service), opened)).toBeUndefined()
        expect(opened.errorDetail).toContain('skipped')
        expect(service.outcomes).toEqual([false, false])
      },
    )

    it('rejects with the status of the policy if it does not exist', async () => {
      expect((await run(compile({ ...BASE, ...mode }, undefined), exchangeOf()))?.status).toBe(403)
      const response = await run(compile({ ...BASE, ...mode, denyStatus: 503 }, undefined), exchangeOf())
      expect(response?.status).toBe(503)
      expect(await run(compile({ ...BASE, ...mode, failureMode: 'FailOpen' }, undefined), exchangeOf())).toBeUndefined()
    })

    it('until the route timeout returns 504, also with FailOpen', async () => {
      const exchange = exchangeOf()
      exchange.deadlineMs = performance.now() + 100
      const policy = compile({ ...BASE, ...mode, failureMode: 'FailOpen' }, serviceAt(await tcp(() => undefined)))
      expect((await run(policy, exchange))?.status).toBe(504)
    })
  })

  it('is not called if its own backend policies reject the call', async () => {
    const { port, received } = await httpService(allow)
    const refusing = { name: 'auth', filter: (exchange: Exchange) => exchange.fail('backendAuthFailed', 'no secret') }
    const service = testService(port, { filters: [refusing] })
    open.push(() => service.close())
    const exchange = exchangeOf()
    expect((await run(compile({ ...BASE, http: {} }, service), exchange))?.status).toBe(403)
    expect(exchange.errorDetail).toBe('no secret')
    expect(received).toEqual([])
  })
})

describe('the cache', () => {
  async function cached(cache: NonNullable<ExtAuth['cache']>, answer: Answer = allow) {
    const { port, received } = await httpService(answer)
    const http_ = { allowedResponseHeaders: ['x-user'] }
    const policy = compile({ ...BASE, http: http_, cache }, serviceAt(port))
    const ask = async (parts: ExchangeParts): Promise<Exchange> => {
      const exchange = exchangeOf(parts)
      await run(policy, exchange)
      return exchange
    }
    return { received, ask, policy }
  }
  const KEY = ['request.path', 'request.headers["x-k"]']
  const withKey = (path: string, key: string): ExchangeParts => ({ path, headers: [['x-k', key]] })

  it('calls the service once for each key, and repeats its changes', async () => {
    const { received, ask } = await cached({ key: KEY, ttlMs: 60_000 }, (response, { url }) =>
      response.writeHead(200, { 'x-user': url }).end(),
    )
    for (const parts of [withKey('/a', 'b'), withKey('/a', 'b'), withKey('/ab', ''), withKey('/ab', '')]) {
      expect((await ask(parts)).request.headers.get('x-user')).toBe(parts.path)
    }
    expect(received).toHaveLength(2)
  })

  it.each([
    [403, 1],
    [401, 1],
    [500, 2],
    [302, 2],
    [204, 2],
  ])('of response %i calls the service %i times', async (status, times) => {
    const { received, ask } = await cached({ key: KEY, ttlMs: 60_000 }, (response) => response.writeHead(status).end())
    for (let i = 0; i < 2; i++) expect((await ask(withKey('/', 'k'))).response).toBeDefined()
    expect(received).toHaveLength(times)
  })

  it.each([
    ['a key that fails', { key: ['request.headers["none"]'], ttlMs: 60_000 }],
    ['a key that is not a scalar', { key: ['[request.path]'], ttlMs: 60_000 }],
    ['a time to live that fails', { key: ['request.path'], ttl: 'request.headers["none"]' }],
    ['a time to live in the past', { key: ['request.path'], ttl: 'timestamp("2020-01-01T00:00:00Z")' }],
    ['a time to live of nothing', { key: ['request.path'], ttl: 'duration("0s")' }],
  ])('with %s calls the service each time', async (_, cache) => {
    const { received, ask } = await cached(cache)
    for (let i = 0; i < 2; i++) expect((await ask({})).response).toBeUndefined()
    expect(received).toHaveLength(2)
  })

  it.each([['duration("60s")'], ['"60s"'], ['4102444800'], ['timestamp("2100-01-01T00:00:00Z")'], ['4102444800u']])(
    'takes %s for a time to live',
    async (ttl) => {
      const { received, ask } = await cached({ key: ['request.path'], ttl })
      for (let i = 0; i < 2; i++) await ask({})
      expect(received).toHaveLength(1)
    },
  )

  it('has at most the maximum number of entries', async () => {
    const { received, ask } = await cached({ key: ['request.path'], ttlMs: 60_000, entriesMax: 2 })
    for (const path of ['/a', '/b', '/a', '/c', '/a', '/b']) await ask({ path })
    expect(received.map(({ url }) => url)).toEqual(['/a', '/b', '/c', '/b'])
  })

  it('is shared by all routes with the policy', async () => {
    const { port, received } = await httpService(allow)
    const policy: ExtAuth = { ...BASE, http: {}, cache: { key: ['request.path'], ttlMs: 60_000 } }
    const service = serviceAt(port)
    for (let i = 0; i < 2; i++) await run(compile(policy, service), exchangeOf())
    expect(received).toHaveLength(1)
  })
})

describe('conditions', () => {
  it('select the service, if any', async () => {
    const { port, received } = await httpService((response) => response.writeHead(401).end())
    const conditional = [
      { condition: 'request.path.startsWith("/open")', policy: { ...BASE, http: { path: '"/other"' } } },
      { condition: 'request.path == "/secret"', policy: { ...BASE, http: {} } },
    ]
    const policy = compile({ conditional }, serviceAt(port))
    for (const path of ['/open', '/secret', '/free']) await run(policy, exchangeOf({ path }))
    expect(received.map(({ url }) => url)).toEqual(['/other', '/secret'])
  })
})

describe('over gRPC', () => {
  type Init = MessageInitShape<typeof CheckResponseSchema>
  const headers = [{ header: { key: 'x-user', value: 'ann' } }]
  const WELCOME: Init = { httpResponse: { case: 'okResponse', value: { headers } } }
  const REFUSAL: Init = {
    status: { code: 16 },
    httpResponse: { case: 'deniedResponse', value: { status: { code: 401 }, body: 'who are you?' } },
  }

  it('calls a real server and applies its decision; the call ends when the client disconnects', async () => {
    let hangs = 0
    let cancelled = 0
    const server = await grpcServer([
      unaryMethod(Authorization.method.check, (call, reply) => {
        const { path, headers } = call.request.attributes?.request?.http ?? {}
        if (path === '/hang') {
          hangs++
          call.on('cancelled', () => cancelled++)
          return
        }
        const allowed = headers?.['x-token'] === 'good'
        reply(null, create(CheckResponseSchema, allowed ? WELCOME : REFUSAL))
      }),
    ])
    open.push(() => server.kill())
    const policy = compile({ ...BASE, grpc: {} }, serviceAt(server.port))
    const good = exchangeOf({ headers: [['x-token', 'good']] })
    expect(await run(policy, good)).toBeUndefined()
    expect(good.request.headers.get('x-user')).toBe('ann')
    expect(await run(policy, exchangeOf())).toMatchObject({ status: 401, body: 'who are you?' })
    const controller = new AbortController()
    const hanging = exchangeOf({ path: '/hang' })
    Object.defineProperty(hanging.connection, 'signal', { value: controller.signal })
    const running = run(policy, hanging)
    await until(() => hangs === 1, 'the call')
    controller.abort()
    expect((await running)?.status).toBe(403)
    await until(() => cancelled === 1, 'the cancellation')
  })
})
