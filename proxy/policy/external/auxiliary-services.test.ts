// Authorization and rate limit services behind a whole proxy: the view of clients and backends, through real sockets.
import { create } from '@bufbuild/protobuf'
import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExtAuth, RateLimitGlobal } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import {
  Authorization,
  CheckResponseSchema,
  type CheckRequest,
} from '../../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import {
  RateLimitResponseSchema,
  RateLimitService,
  type RateLimitRequest,
} from '../../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { grpcServer, unaryMethod, type GrpcTestServer } from '../../grpc/server.testing.ts'

const seenByBackend: IncomingHttpHeaders[] = []
const checks: CheckRequest[] = []
const limits: RateLimitRequest[] = []
let services: GrpcTestServer
let backend: http.Server
let proxy: TestProxy

const LIMIT: RateLimitGlobal = {
  service: { backend: 'ns/rls' },
  failureMode: 'FailClosed',
  domain: 'shop',
  descriptors: [{ unit: 'Requests', entries: [{ name: 'user', expression: 'extauthz.user' }] }],
}
const AUTHZ: ExtAuth = { service: { backend: 'ns/rls' }, failureMode: 'FailClosed', grpc: {} }

beforeAll(async () => {
  services = await grpcServer([
    unaryMethod(Authorization.method.check, (call, reply) => {
      checks.push(call.request)
      const token = call.request.attributes?.request?.http?.headers['authorization']
      const isKnown = token !== undefined
      reply(
        null,
        create(CheckResponseSchema, {
          status: { code: isKnown ? 0 : 16 },
          httpResponse: isKnown
            ? {
                case: 'okResponse',
                value: {
                  headers: [{ header: { key: 'x-user', value: token } }],
                  responseHeadersToAdd: [{ header: { key: 'x-checked', value: 'yes' } }],
                },
              }
            : { case: 'deniedResponse', value: { status: { code: 401 }, body: 'no token' } },
          dynamicMetadata: { user: token ?? '' },
        } as never), // a union of two shapes, which the init type does not follow
      )
    }),
    unaryMethod(RateLimitService.method.shouldRateLimit, (call, reply) => {
      limits.push(call.request)
      const isGreedy = call.request.descriptors[0]?.entries[0]?.value === 'greedy'
      reply(
        null,
        create(RateLimitResponseSchema, {
          overallCode: isGreedy ? 2 : 1,
          statuses: [{ currentLimit: { requestsPerUnit: 10 }, limitRemaining: isGreedy ? 0 : 9 }],
        }),
      )
    }),
  ])
  backend = http.createServer((request, response) => {
    seenByBackend.push(request.headers)
    request.resume().on('end', () => response.end('backend'))
  })
  backend.listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const { port } = backend.address() as AddressInfo // a listening TCP server has one
  const target = { static: { host: '127.0.0.1', port } }
  const route = (name: string, more: Partial<TestRoute>): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: target,
    ...more,
  })
  proxy = await testProxy({
    routes: [
      route('both', { inline: { extAuth: AUTHZ, rateLimitGlobal: LIMIT } }),
      route('missing', { inline: { extAuth: { ...AUTHZ, service: { backend: 'ns/none' } } } }),
      route('closed', { inline: { extAuth: { ...AUTHZ, service: { backend: 'ns/closed' } } } }),
      route('open', { inline: { extAuth: { ...AUTHZ, service: { backend: 'ns/closed' }, failureMode: 'FailOpen' } } }),
      route('limited', {
        inline: {
          rateLimitGlobal: {
            ...LIMIT,
            service: { backend: 'ns/closed' },
            descriptors: [{ unit: 'Requests', entries: [{ name: 'a', expression: '"b"' }] }],
          },
        },
      }),
      route('body', { inline: { extAuth: { ...AUTHZ, forwardBody: { bytesMax: 8 } } } }),
      route('backend', { backendInline: { extAuth: AUTHZ, auth: { key: { secret: 'key' } } } }),
    ],
    secrets: { key: 'backend-key' },
    change: (config) => ({
      ...config,
      backends: [
        ...config.backends,
        {
          key: 'ns/rls',
          name: { namespace: 'ns', name: 'rls' },
          static: { host: '127.0.0.1', port: services.port },
          // A service is never called for calls to itself.
          inlinePolicies: { extAuth: AUTHZ, requestHeaderModifier: { set: [{ name: 'x-caller', value: 'gw' }] } },
        },
        { key: 'ns/closed', name: { namespace: 'ns', name: 'closed' }, static: { host: '127.0.0.1', port: 1 } },
      ],
    }),
  })
})

afterAll(async () => {
  await proxy.stop()
  backend.close()
  backend.closeAllConnections()
  services.kill()
})

const token = (authorization: string): RequestInit => ({ headers: { authorization } })

describe('a proxy with auxiliary services', () => {
  it('forwards requests that both allow, with the headers that they add', async () => {
    const response = await fetch(`${proxy.url}/both`, token('ann'))
    expect([response.status, await response.text()]).toEqual([200, 'backend'])
    expect(response.headers.get('x-checked')).toBe('yes')
    expect(response.headers.get('x-ratelimit-remaining')).toBe('9')
    expect(seenByBackend.at(-1)).toMatchObject({ 'x-user': 'ann', authorization: 'ann' })
    expect(limits.at(-1)).toMatchObject({ domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] })
  })

  it('rejects a request that either rejects, before it reaches the backend', async () => {
    const before = seenByBackend.length
    const unknown = await fetch(`${proxy.url}/both`)
    expect([unknown.status, await unknown.text()]).toEqual([401, 'no token'])
    const greedy = await fetch(`${proxy.url}/both`, token('greedy'))
    expect([greedy.status, await greedy.text()]).toEqual([429, 'rate limit exceeded'])
    expect(greedy.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(greedy.headers.get('x-checked')).toBe('yes')
    expect(seenByBackend).toHaveLength(before)
  })

  it.each([
    ['missing', 403, 'external authorization failed'],
    ['closed', 403, 'external authorization failed'],
    ['open', 200, 'backend'],
    ['limited', 500, 'rate limit failed'],
  ])('whose service of route %s cannot be called returns %i', async (name, status, text) => {
    const response = await fetch(`${proxy.url}/${name}`, token('ann'))
    expect([response.status, await response.text()]).toEqual([status, text])
  })

  it.each([
    ['12345678', 200],
    ['123456789', 413],
  ])('forwards the body %s and returns %i', async (body, status) => {
    const response = await fetch(`${proxy.url}/body`, { ...token('ann'), method: 'POST', body })
    expect(response.status).toBe(status)
    if (status === 200) expect(checks.at(-1)?.attributes?.request?.http).toMatchObject({ body, size: 8n })
  })

  it('is called for a backend before credentials are added', async () => {
    const response = await fetch(`${proxy.url}/backend`, token('ann'))
    expect(response.status).toBe(200)
    expect(checks.at(-1)?.attributes?.request?.http?.headers['authorization']).toBe('ann')
    expect(seenByBackend.at(-1)?.authorization).toBe('Bearer backend-key')
  })
})
