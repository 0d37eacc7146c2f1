// traffic.extAuth: decisions of services over HTTP and gRPC, the cache, conditions, and services that cannot be asked.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'ext-auth.yaml'
const ALICE = { headers: { authorization: 'Bearer alice-token', 'x-user': 'forged' } }
const MALLORY = { headers: { authorization: 'Bearer mallory-token' } }

const authz = (name: string): object => ({ group: 'gw.dev', kind: 'GwBackend', name })
/** A rule of its own, without a policy: /filter, with the filter of the Gateway API. */
const withFilter = (externalAuth: object): ((manifests: string) => string) =>
  changing('HTTPRoute/ext-auth', {
    rules: [
      {
        name: 'filter',
        matches: [{ path: { type: 'PathPrefix', value: '/filter' } }],
        filters: [{ type: 'ExternalAuth', externalAuth }],
        backendRefs: [authz('echo')],
      },
    ],
  })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ExtAuthHttp',
    description: 'only response 200 allows a request, with the headers of the policy; 401 redirects to the login page',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/http', ALICE)).headers['x-user']).toBe('alice')
      const login = await gateway.ask('/http')
      expect(login).toMatchObject({ status: 302, headers: { location: 'https://login.example.com/' } })
      expect((await gateway.ask('/http', MALLORY)).status).toBe(302)
    },
  },
  {
    shortName: 'ExtAuthGrpc',
    description: 'the gRPC service decides, with its header and its rejection',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/grpc', ALICE)).headers['x-user']).toBe('alice')
      expect(await gateway.ask('/grpc', MALLORY)).toMatchObject({ status: 403, text: 'not for you' })
    },
  },
  {
    shortName: 'ExtAuthCache',
    description: 'the same credential is asked about once',
    sample: SAMPLE,
    async run(gateway) {
      const first = (await gateway.echo('/cached', ALICE)).headers['x-answer']
      expect(first).toMatch(/^\d+$/)
      expect((await gateway.echo('/cached', ALICE)).headers['x-answer']).toBe(first)
      expect(await gateway.ask('/cached', MALLORY)).toMatchObject({ status: 403, text: 'not for you' })
    },
  },
  {
    shortName: 'ExtAuthConditional',
    description: 'the service is not asked if no condition is true',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/choice', MALLORY)
      expect((await gateway.ask('/choice', { ...MALLORY, method: 'POST' })).status).toBe(403)
      await gateway.echo('/choice', { ...ALICE, method: 'POST' })
    },
  },
  {
    shortName: 'ExtAuthUnreachable',
    description: 'requests are rejected if the service cannot be asked',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.ask('/gone', ALICE)).status).toBe(403)
    },
  },
  {
    shortName: 'ExtAuthFailOpen',
    description: 'with FailOpen, requests pass if the service cannot be asked',
    sample: SAMPLE,
    change: replacing(
      '        name: gone\n      grpc: {}',
      '        name: gone\n      failureMode: FailOpen\n      grpc: {}',
    ),
    async run(gateway) {
      expect((await gateway.ask('/gone', MALLORY)).status).toBe(200)
    },
  },
  {
    shortName: 'ExtAuthMissingBackend',
    description: 'with a service that does not exist, requests are rejected and the status names it',
    sample: SAMPLE,
    change: replacing('        name: authz-grpc\n', '        name: nowhere\n'),
    async run(gateway) {
      expect((await gateway.ask('/grpc', ALICE)).status).toBe(403)
      const [accepted] = gateway.conditions('GwPolicy', 'ext-auth-grpc')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message:
          'spec.traffic.extAuth.backendRef: backend(default/nowhere) not found: there is no GwBackend default/nowhere',
      })
    },
  },
  {
    shortName: 'ExtAuthHttpQuestion',
    description: 'the service over HTTP gets the fields of the policy, and other policies can use its response',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-auth-http', {
      traffic: {
        extAuth: {
          backendRef: { port: 18_090 },
          failureMode: 'FailClosed',
          http: {
            body: '"method " + request.method',
            allowedRequestHeaders: ['authorization', 'cookie'],
            addRequestHeaders: { 'x-got': 'request.headers["x-secret"] + "!"' },
            allowedResponseHeaders: ['x-asked', 'x-got-header', 'x-got-cookie', 'x-got-body'],
            responseMetadata: { user: 'response.headers["x-user"]' },
          },
        },
        transformation: { request: { set: [{ name: 'x-found', value: 'extauthz.user' }] } },
      },
    }),
    async run(gateway) {
      const headers = { ...ALICE.headers, cookie: 'theme=dark', 'x-secret': 'hidden' }
      expect((await gateway.echo('/http/x', { headers })).headers).toMatchObject({
        'x-asked': '/check/http/x',
        'x-got-header': 'hidden!',
        'x-got-cookie': 'theme=dark',
        'x-got-body': 'method GET',
        'x-found': 'alice',
      })
    },
  },
  {
    shortName: 'ExtAuthGrpcQuestion',
    description: 'the service over gRPC gets metadata and the body; a body over the limit is rejected',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-auth-grpc', {
      traffic: {
        extAuth: {
          forwardBody: { maxSize: 16 },
          grpc: { requestMetadata: { shop: '{"tenant": request.headers["x-tenant"]}' } },
        },
      },
    }),
    async run(gateway) {
      const headers = { ...ALICE.headers, 'x-tenant': 'books' }
      const echo = await gateway.echo('/grpc', { method: 'POST', headers, body: 'hello' })
      expect(echo).toMatchObject({ body: 'hello', headers: { 'x-got': '{"shop":{"tenant":"books"}} hello' } })
      const tooLarge = await gateway.ask('/grpc', { method: 'POST', headers, body: 'x'.repeat(17) })
      expect(tooLarge).toMatchObject({ status: 413, text: 'external authorization failed' })
    },
  },
  {
    shortName: 'ExtAuthCacheBound',
    description: 'the cache keeps no more responses than its limit',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-auth-cached', {
      traffic: { extAuth: { cache: { key: ['request.path'], maxEntries: 1 } } },
    }),
    async run(gateway) {
      const answerOf = async (path: string): Promise<string | undefined> =>
        (await gateway.echo(path, ALICE)).headers['x-answer']
      const first = await answerOf('/cached/a')
      expect(await answerOf('/cached/a')).toBe(first)
      await answerOf('/cached/b')
      expect(await answerOf('/cached/a')).not.toBe(first)
    },
  },
  {
    shortName: 'ExtAuthFilterHttp',
    description:
      'the filter ExternalAuth over HTTP prefixes the path of the request, and copies all headers of the response',
    sample: SAMPLE,
    change: withFilter({ protocol: 'HTTP', backendRef: authz('authz-http'), http: { path: '/check' } }),
    async run(gateway) {
      const { headers } = await gateway.echo('/filter/a?b=c', ALICE)
      expect(headers).toMatchObject({ 'x-user': 'alice', 'x-asked': '/check/filter/a?b=c' })
      expect(headers['content-type']).toBeUndefined()
      expect((await gateway.ask('/filter', MALLORY)).status).toBe(403)
    },
  },
  {
    shortName: 'ExtAuthFilterGrpc',
    description: 'the filter over gRPC asks the service, which rejects the request because its context is missing',
    sample: SAMPLE,
    change: withFilter({ protocol: 'GRPC', backendRef: authz('authz-grpc'), grpc: {} }),
    async run(gateway) {
      expect(await gateway.ask('/filter', ALICE)).toMatchObject({ status: 403, text: 'not for you' })
    },
  },
  {
    shortName: 'ExtAuthFilterMissing',
    description: 'with a filter whose service does not exist, requests are rejected and the status names the filter',
    sample: SAMPLE,
    change: withFilter({ protocol: 'GRPC', backendRef: authz('nowhere'), grpc: {} }),
    async run(gateway) {
      expect((await gateway.ask('/filter', ALICE)).status).toBe(403)
      const resolved = gateway.conditions('HTTPRoute', 'ext-auth').find(({ reason }) => reason === 'BackendNotFound')
      expect(resolved?.message).toMatch(/^spec\.rules\[0\]\.filters\[0\]: /)
    },
  },
]
