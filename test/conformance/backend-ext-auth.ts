// backend.extAuth: the service is asked only about requests to the backend of the policy.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-ext-auth.yaml'
const ALICE = { headers: { authorization: 'Bearer alice-token' } }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendExtAuth',
    description: 'the guarded backend gets the requests that the service allows, the open one all requests',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/guarded', ALICE)).headers['x-user']).toBe('alice')
      expect((await gateway.ask('/guarded')).status).toBe(401)
      await gateway.echo('/open')
    },
  },
  {
    shortName: 'BackendExtAuthMissingBackend',
    description: 'with a service that does not exist, requests are rejected',
    sample: SAMPLE,
    change: replacing('        name: authz-http\n', '        name: nowhere\n'),
    async run(gateway) {
      expect((await gateway.ask('/guarded', ALICE)).status).toBe(403)
      await gateway.echo('/open')
    },
  },
  {
    shortName: 'BackendExtAuthHttp',
    description: 'the service gets the fields of the policy, redirects to the login page, and is asked once',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-ext-auth', {
      backend: {
        extAuth: {
          backendRef: { port: 18_090 },
          failureMode: 'FailClosed',
          forwardBody: { maxSize: 16 },
          cache: { key: ['request.path', 'request.headers["authorization"]'], ttl: '1h', maxEntries: 4 },
          http: {
            path: '"/check" + request.path',
            redirect: '"https://login.example.com/"',
            allowedRequestHeaders: ['authorization', 'cookie'],
            addRequestHeaders: { 'x-got': 'request.method' },
            allowedResponseHeaders: ['x-answer', 'x-asked', 'x-got-header', 'x-got-cookie', 'x-got-body'],
            responseMetadata: { user: 'response.headers["x-user"]' },
          },
        },
        transformation: { request: { set: [{ name: 'x-found', value: 'extauthz.user' }] } },
      },
    }),
    async run(gateway) {
      const question = { method: 'POST', headers: { ...ALICE.headers, cookie: 'theme=dark' }, body: 'hello' }
      const { headers } = await gateway.echo('/guarded', question)
      expect(headers).toMatchObject({
        'x-asked': '/check/guarded',
        'x-got-header': 'POST',
        'x-got-cookie': 'theme=dark',
        'x-got-body': 'hello',
        'x-found': 'alice',
      })
      expect((await gateway.echo('/guarded', question)).headers['x-answer']).toBe(headers['x-answer'])
      const login = await gateway.ask('/guarded')
      expect(login).toMatchObject({ status: 302, headers: { location: 'https://login.example.com/' } })
      const tooLarge = await gateway.ask('/guarded/other', { ...question, body: 'x'.repeat(17) })
      expect(tooLarge).toMatchObject({ status: 413, text: 'external authorization failed' })
    },
  },
  {
    shortName: 'BackendExtAuthHttpBody',
    description: 'the service gets the body that the policy computes instead of the body of the request',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-ext-auth', {
      backend: { extAuth: { http: { body: 'request.method', allowedResponseHeaders: ['x-got-body'] } } },
    }),
    async run(gateway) {
      const echo = await gateway.echo('/guarded', { method: 'POST', ...ALICE, body: 'hello' })
      expect(echo).toMatchObject({ body: 'hello', headers: { 'x-got-body': 'POST' } })
    },
  },
  {
    shortName: 'BackendExtAuthGrpc',
    description: 'a service over gRPC decides too',
    sample: SAMPLE,
    change: all(
      replacing('port: 18090', 'port: 18091'),
      changing('GwPolicy/backend-ext-auth', {
        backend: {
          extAuth: {
            http: null,
            grpc: { contextExtensions: { place: 'shop' }, requestMetadata: { shop: '{"path": request.path}' } },
          },
        },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/guarded', ALICE)
      expect(headers['x-got']).toMatch(/^\{"shop":\{"path":"\/guarded"\}\}/)
      expect(await gateway.ask('/guarded')).toMatchObject({ status: 403, text: 'not for you' })
    },
  },
  {
    shortName: 'BackendExtAuthFailOpen',
    description: 'with FailOpen, requests pass if the service cannot be asked',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-ext-auth', {
      backend: { extAuth: { failureMode: 'FailOpen', backendRef: { name: 'nowhere' } } },
    }),
    async run(gateway) {
      expect((await gateway.echo('/guarded')).server).toBe('echo')
    },
  },
]
