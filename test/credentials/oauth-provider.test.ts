// Token exchange and cross-app access against a real authorization server (oidc-provider), through a whole proxy. The
// backend asks the server about each token that it gets, as a resource server does.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BackendAuth, OAuthClientAuth } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { clientKey, type IssuedAccess, type OAuthProvider, startProvider } from './oauth-provider.ts'

let server: OAuthProvider
let backend: Server
let gateway: TestProxy

const STS = { service: { backend: 'ns/sts' }, path: '/token' }
const secret = (clientId: string, method: OAuthClientAuth['method']): OAuthClientAuth => ({
  clientId,
  method,
  secretRef: { secret: `n/${clientId}` },
})
const signed = (clientId: string): OAuthClientAuth => ({
  clientId,
  method: 'PrivateKeyJwt',
  // The server knows itself by its issuer.
  privateKeyJwt: { signingKeyRef: { secret: 'n/key' }, alg: 'ES256', kid: 'key-1', assertionAudience: server.issuer },
})
const exchange = (clientAuth: OAuthClientAuth): NonNullable<BackendAuth['oauthTokenExchange']> => ({
  ...STS,
  grantType: 'TokenExchange',
  subjectToken: { tokenType: 'Jwt' },
  clientAuth,
})
const crossApp = (identity: OAuthClientAuth, application: OAuthClientAuth): BackendAuth => ({
  crossAppAccess: {
    identityProvider: { ...STS, clientAuth: identity },
    resourceAuthorizationServer: { ...STS, clientAuth: application },
    audience: `${server.issuer}/app`,
    scopes: ['orders.read'],
  },
})

function kinds(): Readonly<Record<string, BackendAuth>> {
  const basic = exchange(secret('basic', 'ClientSecretBasic'))
  return {
    basic: { oauthTokenExchange: basic },
    post: { oauthTokenExchange: exchange(secret('post', 'ClientSecretPost')) },
    signing: { oauthTokenExchange: exchange(signed('signing')) },
    wrong: {
      oauthTokenExchange: exchange({ ...secret('basic', 'ClientSecretBasic'), secretRef: { secret: 'n/wrong' } }),
    },
    bearer: { oauthTokenExchange: { ...basic, grantType: 'JwtBearer', scopes: ['orders.read'] } },
    full: {
      oauthTokenExchange: {
        ...basic,
        actorToken: { source: { header: { name: 'x-actor' } }, tokenType: 'Jwt', mayAct: 'Required' },
        audiences: ['a', 'b'],
        resources: ['https://a.example', 'https://b.example'],
        scopes: ['orders.read', 'orders.write'],
        requestedTokenType: 'AccessToken',
      },
    },
    crossapp: crossApp(secret('basic', 'ClientSecretBasic'), secret('basic-at-app', 'ClientSecretBasic')),
    'crossapp-signing': crossApp(signed('signing'), signed('signing-at-app')),
    // Its assertion is for another client.
    'crossapp-foreign': crossApp(secret('post', 'ClientSecretPost'), secret('basic-at-app', 'ClientSecretBasic')),
  }
}

beforeAll(async () => {
  server = await startProvider()
  backend = createServer((request, response) => {
    const token = (request.headers.authorization ?? '').slice('Bearer '.length)
    void server.issued(token).then((issued) => {
      response.writeHead(issued === undefined ? 401 : 200).end(JSON.stringify(issued ?? {}))
    })
  })
  const port = await listening(backend)
  gateway = await testProxy({
    workers: 2,
    routes: Object.entries(kinds()).map(([name, auth]) => ({
      name,
      prefix: `/${name}`,
      backend: { static: { host: '127.0.0.1', port }, inlinePolicies: { auth } },
    })),
    secrets: {
      ...Object.fromEntries(['basic', 'post', 'basic-at-app'].map((id) => [`n/${id}`, `secret of ${id} & 100%`])),
      'n/wrong': 'wrong',
      'n/key': clientKey.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    },
    change: (config) => ({
      ...config,
      backends: [
        ...config.backends,
        { key: 'ns/sts', name: { namespace: 'ns', name: 'sts' }, static: { host: '127.0.0.1', port: server.port } },
      ],
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  server.stop()
  closeServer(backend)
})

async function ask(path: string, token: string, more: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.url}/${path}`, { headers: { authorization: `Bearer ${token}`, ...more } })
  const text = await response.text()
  return { status: response.status, text, issued: response.ok ? (JSON.parse(text) as IssuedAccess) : undefined }
}

describe('token exchange', () => {
  it.each(['basic', 'post', 'signing'])('gets a token that the server knows, as client %s', async (name) => {
    const { status, issued } = await ask(name, await server.signed({ sub: 'ann' }))
    expect(status).toBe(200)
    expect(issued).toMatchObject({ accountId: 'ann', clientId: name })
  })

  it('sends actor, audiences, resources and scopes', async () => {
    const subject = await server.signed({ sub: 'ann', may_act: { sub: 'agent' } })
    const { issued } = await ask('full', subject, { 'x-actor': await server.signed({ sub: 'agent' }) })
    expect(issued).toMatchObject({
      accountId: 'ann',
      scope: 'orders.read orders.write',
      extra: { act: 'agent', audience: ['a', 'b'], resource: ['https://a.example', 'https://b.example'] },
    })
    const other = { 'x-actor': await server.signed({ sub: 'other' }) }
    expect(await ask('full', subject, other)).toMatchObject({ status: 403 })
  })

  it('gets a token for an assertion of the grant JwtBearer', async () => {
    const { issued } = await ask('bearer', await server.signed({ sub: 'ann' }))
    expect(issued).toMatchObject({ accountId: 'ann', clientId: 'basic', scope: 'orders.read' })
  })

  it('asks the server once for all requests of a subject, in all workers', async () => {
    const [subject, before] = [await server.signed({ sub: 'bob' }), server.requests]
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('basic', subject)))
    answers.push(await ask('basic', subject))
    expect(answers.map(({ issued }) => issued?.accountId)).toEqual(answers.map(() => 'bob'))
    expect(server.requests - before).toBe(1)
  })

  it('asks the server once for each of several subjects', async () => {
    const before = server.requests
    const subjects = await Promise.all(
      Array.from({ length: 10 }, (_, index) => server.signed({ sub: `user-${index}` })),
    )
    const answers = await Promise.all([...subjects, ...subjects].map((subject) => ask('basic', subject)))
    const expected = subjects.map((_, index) => `user-${index}`)
    expect(answers.map(({ issued }) => issued?.accountId)).toEqual([...expected, ...expected])
    expect(server.requests - before).toBe(10)
  })

  it('answers with 400 for tokens of another issuer, and with 500 for a client that the server does not know', async () => {
    const { text, status } = await ask('basic', 'opaque')
    expect(status).toBe(400)
    expect(text).not.toContain('planted-description')
    expect(await ask('signing', await server.signed({ sub: 'ann' }, -60))).toMatchObject({ status: 400 })
    expect(await ask('wrong', await server.signed({ sub: 'ann' }))).toMatchObject({ status: 500 })
  })
})

describe('cross-app access', () => {
  it.each(['crossapp', 'crossapp-signing'])('gets a token of the application: %s', async (name) => {
    const { status, issued } = await ask(name, await server.signed({ sub: 'ann' }))
    expect(status).toBe(200)
    expect(issued).toMatchObject({
      accountId: 'ann',
      clientId: name === 'crossapp' ? 'basic-at-app' : 'signing-at-app',
      scope: 'orders.read',
    })
  })

  it('answers with 400 for a token of another issuer, and with 500 for an assertion of another client', async () => {
    expect(await ask('crossapp', 'opaque')).toMatchObject({ status: 400 })
    expect(await ask('crossapp-foreign', await server.signed({ sub: 'ann' }))).toMatchObject({ status: 500 })
  })
})
