// Backends that refuse fetched credentials: one more try with another credential, on real proxies.
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BackendPayload, CrossAppAccess } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { type StsServer, stsServer } from '../../credentials/cloud-a/servers.testing.ts'
import {
  APPLICATION,
  applicationServer,
  type Authority,
  identityProvider,
  idToken,
} from '../../credentials/oauth/authorities.testing.ts'
import { type ScriptedUpstream, scriptedUpstream, status } from '../scripted-upstream.testing.ts'

const SECRETS = { 'n/idp/clientSecret': 'idp-secret', 'n/app/clientSecret': 'app-secret' }
const AUTH: CrossAppAccess = {
  identityProvider: {
    service: { backend: 'ns/idp' },
    path: '/token',
    clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 'n/idp/clientSecret' } },
  },
  resourceAuthorizationServer: {
    service: { backend: 'ns/app' },
    path: '/token',
    clientAuth: { clientId: 'gateway-at-app', method: 'ClientSecretPost', secretRef: { secret: 'n/app/clientSecret' } },
  },
  audience: APPLICATION,
}
const ROLE = 'arn:aws:iam::123456789012:role/gateway'

let provider: Authority
let application: Authority
let sts: StsServer
let upstream: ScriptedUpstream
let gateway: TestProxy
let subject: string
/** Name of the client of a test: tokens and sessions of tests differ. */
let user: string
let users = 0
/** The first so many different credentials of a client are refused. */
let refused: number
let refusal = status(401)
const credentials: string[] = []

const HTTP: BackendPayload = {
  auth: { crossAppAccess: AUTH },
  requestHeaderModifier: { add: [{ name: 'x-backend', value: 'b' }] },
  urlRewrite: { path: { prefix: '/deep' } },
}

function route(name: string, prefix: string, backend: TestRoute['backend'], backendInline?: BackendPayload): TestRoute {
  return { name, prefix, backend, ...(backendInline && { backendInline }) }
}

beforeAll(async () => {
  provider = await identityProvider()
  application = await applicationServer()
  sts = await stsServer(new Map([['AKIAENV', 'env-secret']]))
  for (const name of Object.keys(process.env).filter((one) => one.startsWith('AWS_'))) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret')
  upstream = await scriptedUpstream((response, request, index) => {
    const credential = credentialOf(request.headers)
    if (!credentials.includes(credential)) credentials.push(credential)
    const isRefused = credentials.indexOf(credential) < refused
    const id = /"id":(\d+)/.exec(request.body)?.[1] ?? '1'
    const json = { jsonrpc: '2.0', id: Number(id), result: {}, choices: [] }
    if (isRefused) refusal(response, request, index)
    else status(200, { 'content-type': 'application/json' }, JSON.stringify(json))(response, request, index)
  })
  const at = (port: number) => ({ static: { host: '127.0.0.1', port } })
  const cloudA = {
    assumeRole: { roleRef: ROLE, sessionNameExpression: 'request.headers["x-user"]' },
    region: 'eu-west-1',
    serviceName: 'execute-api',
  }
  gateway = await testProxy({
    secrets: SECRETS,
    routes: [
      route('idp', '/unused-1', at(provider.port)),
      route('app', '/unused-2', at(application.port)),
      route('server', '/unused-3', { ...at(upstream.port), inlinePolicies: { auth: { crossAppAccess: AUTH } } }),
      route('http', '/http', at(upstream.port), HTTP),
      route('aws', '/aws', at(upstream.port), { auth: { cloudA } }),
      route(
        'ai',
        '/v1',
        {
          ai: {
            groups: [
              {
                providers: [
                  { name: 'p', provider: { openai: {} }, hostOverride: { host: '127.0.0.1', port: upstream.port } },
                ],
              },
            ],
          },
        },
        {
          auth: { crossAppAccess: AUTH },
          ai: { routes: { '/v1/chat/completions': 'Completions', '*': 'Passthrough' } },
        },
      ),
      route('mcp', '/mcp', {
        mcp: {
          targets: [{ name: 'a', ref: { backend: 'ns/server' } }],
          sessionRouting: 'Stateless',
          prefixMode: 'Conditional',
          failureMode: 'FailClosed',
        },
      }),
    ],
  })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await gateway.stop()
  upstream.stop()
  provider.close()
  application.close()
  await sts.close()
})

beforeEach(async () => {
  refused = 1
  refusal = status(401)
  user = `user-${users++}`
  subject = await idToken(user)
  for (const list of [credentials, upstream.seen, application.forms, sts.calls]) list.length = 0
})

/** The token, or the id of the access key. */
function credentialOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /Credential=(\w+)/.exec(authorization)?.[1] ?? authorization
}

function call(path: string, body?: unknown): Promise<Response> {
  const headers = {
    authorization: `Bearer ${subject}`,
    'x-user': user,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  if (body === undefined) return fetch(`${gateway.url}${path}`, { headers })
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** By the order of their first use. */
const sent = (): number[] => upstream.seen.map(({ headers }) => credentials.indexOf(credentialOf(headers)))

describe('a request whose token the backend refuses', () => {
  it.each([
    ['without a body', undefined],
    ['with a body', 'x'.repeat(65_536)],
  ])('%s is sent again once with another token, as it was before the policies of the backend', async (_, body) => {
    refused = 0
    expect((await call('/http/1', body)).status).toBe(200)
    refused = 1
    expect((await call('/http/2?q=1', body)).status).toBe(200)
    expect((await call('/http/3', body)).status).toBe(200)
    expect(sent()).toEqual([0, 0, 1, 1])
    for (const { url, headers, body: received } of upstream.seen.slice(1, 3)) {
      expect([url, headers['x-backend'], received]).toEqual(['/deep/2?q=1', 'b', body ?? ''])
    }
    expect(application.forms).toHaveLength(2)
  })

  it('gets the refusal if the backend refuses the other token too, and the endpoint is asked twice in 10 s', async () => {
    refused = Infinity
    for (let i = 0; i < 5; i++) {
      const response = await call('/http')
      expect([response.status, await response.text()]).toEqual([401, 'status 401'])
    }
    expect(upstream.seen).toHaveLength(6)
    expect(application.forms).toHaveLength(2)
  })

  it('is not sent again with a body of more than 64 KiB; the next request has another token', async () => {
    expect((await call('/http', 'x'.repeat(65_537))).status).toBe(401)
    expect((await call('/http')).status).toBe(200)
    expect(sent()).toEqual([0, 1])
  })

  it('is sent again to a model provider', async () => {
    const chat = { model: 'm', messages: [{ role: 'user', content: 'y'.repeat(100_000) }] }
    expect((await call('/v1/chat/completions', chat)).status).toBe(200)
    expect(sent()).toEqual([0, 1])
    expect(upstream.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([chat, chat])
    refused = 2
    expect((await call('/v1/files')).status).toBe(401)
  })

  it('is sent again to an MCP server', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 7,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
    }
    expect((await call('/mcp', initialize)).status).toBe(200)
    expect(sent()).toEqual([0, 1])
  })
})

describe('a request whose signature the backend refuses', () => {
  const expired = { 'x-amzn-errortype': 'ExpiredTokenException:http://internal.amazon.com/' }

  it.each([
    [401, {}],
    [403, expired],
    [400, { 'x-amzn-errortype': 'com.amazon#UnrecognizedClientException' }],
  ])('with status %i is signed again with the keys of another session', async (code, headers) => {
    refusal = status(code, headers)
    expect((await call('/aws', 'x'.repeat(100_000))).status).toBe(200)
    expect(sent()).toEqual([0, 1])
    expect(new Set(upstream.seen.map(({ body }) => body.length))).toEqual(new Set([100_000]))
    expect(sts.calls).toHaveLength(2)
  })

  it('for another reason is not sent again', async () => {
    refusal = status(403, { 'x-amzn-errortype': 'AccessDeniedException' })
    refused = Infinity
    expect((await call('/aws')).status).toBe(403)
    expect(upstream.seen).toHaveLength(1)
  })
})
