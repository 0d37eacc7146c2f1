// Which documents an MCP client gets, for each identity provider, and that none of them opens the server itself.
import { describe, expect, it } from 'vitest'
import type { JwtAuthentication, McpOauth } from '#api/ir/types.gen.ts'
import { ServiceError, type ServiceCaller, type ServiceHttpRequest } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import type { OriginPlace } from '../../../chain/environment.ts'
import { authEnvironment, exchangeOf, textOf, type ExchangeParts } from '../../exchange.testing.ts'
import { compileJwtAuthentication } from '../jwt-authentication.ts'
import { registrationUrl } from './identity-provider.ts'
import { placeOf } from './place.ts'

const ISSUER = 'https://idp.example/realms/a'
const AT_IDP = {
  issuer: ISSUER,
  authorization_endpoint: 'https://idp.example/auth?x=1',
  token_endpoint: 'https://idp.example/token',
  registration_endpoint: 'https://idp.example/register',
}

class Idp {
  readonly asked: { place: OriginPlace; request: ServiceHttpRequest }[] = []
  metadata: { status: number; body: string } | undefined = { status: 200, body: JSON.stringify(AT_IDP) }
  /** Of all places but those of the metadata. */
  answer = { status: 200, body: '{}' }

  readonly origin = (place: OriginPlace): ServiceCaller => ({
    http: (_exchange, request) => {
      this.asked.push({ place, request })
      const answer = request.path.includes('/.well-known/') ? this.metadata : this.answer
      if (answer === undefined) return Promise.reject(new ServiceError('no connection'))
      const headers = HeaderList.of([['content-type', 'application/json']])
      return Promise.resolve(new HttpResponse(answer.status, headers, Buffer.from(answer.body), false))
    },
    unary: () => Promise.reject(new Error('not used')),
    answerMs: 1000,
    stream: () => {
      throw new Error('not used')
    },
  })

  /** Requests other than those for the metadata. */
  calls(): string[] {
    return this.urls().filter((url) => !url.includes('/.well-known/'))
  }

  urls(): string[] {
    return this.asked.map(({ place, request }) => {
      const query = request.query === '' ? '' : `?${request.query}`
      return `${request.method} ${place.isTls ? 'https' : 'http'}://${place.host}:${place.port}${request.path}${query}`
    })
  }
}

interface Setup extends Partial<JwtAuthentication['providers'][number]> {
  readonly mcp?: McpOauth
  readonly mode?: JwtAuthentication['mode']
}

function policyOf(idp: Idp, { mcp = {}, mode = 'Strict', ...provider }: Setup = {}) {
  const auth: JwtAuthentication = { mode, mcp, providers: [{ issuer: ISSUER, jwks: '{"keys":[]}', ...provider }] }
  return compileJwtAuthentication(auth, { ...authEnvironment({ s: 'idp-secret' }), origin: idp.origin })
}

async function ask(policy: ReturnType<typeof policyOf>, parts: ExchangeParts): Promise<Exchange> {
  const exchange = exchangeOf({ host: 'gw.example', scheme: 'https', ...parts })
  const verdict = await policy.request?.(exchange)
  if (verdict !== undefined) exchange.response = verdict
  return exchange
}

const jsonOf = ({ response }: Exchange): unknown => JSON.parse(textOf(response?.body) ?? '')
const SERVER = '/.well-known/oauth-authorization-server/mcp'
const HERE = `https://gw.example${SERVER}`
const PKCE = `code_challenge=${'c'.repeat(43)}&code_challenge_method=S256`
/** The gateway as an authorization server. */
const GATEWAY = 'https://gw.example/mcp'

describe('places', () => {
  it.each([
    ['/mcp', undefined],
    ['/', undefined],
    ['/.well-known/oauth-protected-resource', ['resource', '']],
    ['/.well-known/oauth-protected-resource/', ['resource', '']],
    ['/.well-known/oauth-protected-resource/a/mcp', ['resource', '/a/mcp']],
    ['/.well-known/oauth-protected-resources', undefined],
    ['/x/.well-known/oauth-protected-resource', undefined],
    ['/.well-known/oauth-authorization-server', ['server', '']],
    ['/.well-known/oauth-authorization-server/mcp', ['server', '/mcp']],
    ['/.well-known/oauth-authorization-server/mcp/authorize', ['authorize', '/mcp']],
    ['/.well-known/oauth-authorization-server/mcp/token', ['token', '/mcp']],
    ['/.well-known/oauth-authorization-server/mcp/callback', ['callback', '/mcp']],
    ['/mcp/callback', undefined],
    ['/.well-known/oauth-authorization-server/mcp/client-registration', ['registration', '/mcp']],
    ['/mcp/client-registration', undefined],
    ['/client-registration', undefined],
    ['/.well-known/oauth-authorization-serverx/client-registration', undefined],
    ['/mcp/authorize', undefined],
    ['/mcp/token', undefined],
  ])('%s', (path, expected) => {
    const place = placeOf(path)
    expect(place && [place.kind, place.path]).toEqual(expected)
  })
})

describe('a request without a valid token', () => {
  it('gets the address of the metadata', async () => {
    const policy = policyOf(new Idp())
    const none = await ask(policy, { path: '/mcp' })
    expect(none.response?.status).toBe(401)
    expect(none.response?.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp"',
    )
    expect(jsonOf(none)).toEqual({
      error: 'unauthorized',
      error_description: 'JWT token required',
    })
    const bad = await ask(policy, { path: '/', headers: [['authorization', 'Bearer x.y.z']] })
    expect([bad.response?.status, bad.response?.headers.get('content-type')]).toEqual([401, 'application/json'])
    expect(jsonOf(bad)).toEqual(jsonOf(none))
    expect(bad.response?.headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token", resource_metadata="https://gw.example/.well-known/oauth-protected-resource"',
    )
  })

  it('with the origin of the configuration, else that of the request', async () => {
    const named = policyOf(new Idp(), { mcp: { resourceMetadata: { resource: 'https://mcp.example:8443/mcp' } } })
    const challenge = async (policy: ReturnType<typeof policyOf>, parts: ExchangeParts) =>
      (await ask(policy, parts)).response?.headers.get('www-authenticate')
    expect(await challenge(named, { path: '/mcp' })).toContain('"https://mcp.example:8443/.well-known/')
    const forwarded = { path: '/a"b', scheme: 'http', headers: [['x-forwarded-proto', 'https']] } as const
    expect(await challenge(policyOf(new Idp()), forwarded)).toContain(
      '"https://gw.example/.well-known/oauth-protected-resource/a%22b"',
    )
    const odd = { path: '/mcp', scheme: 'http', headers: [['x-forwarded-proto', 'javascript']] } as const
    expect(await challenge(policyOf(new Idp()), odd)).toContain('"http://gw.example/')
  })

  it('is forwarded in mode Permissive', async () => {
    expect((await ask(policyOf(new Idp(), { mode: 'Permissive' }), { path: '/mcp' })).response).toBeUndefined()
  })
})

describe('metadata of the resource', () => {
  const at = { path: '/.well-known/oauth-protected-resource/mcp' }

  it('names the issuer, or the gateway if it is in between', async () => {
    const plain = await ask(policyOf(new Idp()), at)
    expect(plain.response?.headers.get('access-control-allow-origin')).toBe('*')
    expect(jsonOf(plain)).toEqual({
      resource: 'https://gw.example/mcp',
      authorization_servers: [ISSUER],
      mcp_protocol_version: '2025-06-18',
      resource_type: 'mcp-server',
    })
    for (const mcp of [{ provider: 'Keycloak' }, { clientId: 'c' }, { provider: 'Entra' }] as const) {
      expect(jsonOf(await ask(policyOf(new Idp(), { mcp }), at))).toMatchObject({
        authorization_servers: ['https://gw.example/mcp'],
      })
    }
  })

  it.each([
    ['complete', {}, true],
    ['of another issuer', { issuer: 'https://other.example' }, false],
    ['without PKCE', { code_challenge_methods_supported: ['plain'] }, false],
    ['without registration', { registration_endpoint: undefined }, false],
    [
      'without registration, for clients with metadata documents',
      { registration_endpoint: undefined, client_id_metadata_document_supported: true },
      true,
    ],
  ])('names the issuer of Keycloak if its metadata is %s', async (_name, changes, isUsable) => {
    const idp = new Idp()
    const metadata = { ...AT_IDP, code_challenge_methods_supported: ['S256'], ...changes }
    idp.metadata = { status: 200, body: JSON.stringify(metadata) }
    for (const provider of ['Keycloak', 'Descope', 'Authentik'] as const) {
      expect(jsonOf(await ask(policyOf(idp, { mcp: { provider } }), at))).toMatchObject({
        authorization_servers: [isUsable ? ISSUER : 'https://gw.example/mcp'],
      })
    }
    // The gateway adds the parameter that these products need.
    for (const provider of ['Auth0', 'Okta'] as const) {
      expect(jsonOf(await ask(policyOf(idp, { mcp: { provider }, audiences: ['a'] }), at))).toMatchObject({
        authorization_servers: ['https://gw.example/mcp'],
      })
    }
  })

  it('names the gateway at the origin of the configuration', async () => {
    const mcp = { clientId: 'c', resourceMetadata: { resource: 'https://mcp.example/mcp' } }
    const policy = policyOf(new Idp(), { mcp })
    expect(jsonOf(await ask(policy, at))).toMatchObject({ authorization_servers: ['https://mcp.example/mcp'] })
    expect(jsonOf(await ask(policy, { path: SERVER }))).toMatchObject({ issuer: 'https://mcp.example/mcp' })
  })

  it('contains the fields of the configuration in snake case', async () => {
    const resourceMetadata = {
      resource: 'https://mcp.example/mcp',
      scopesSupported: ['read'],
      deepValue: { someKey: 1 },
    }
    expect(jsonOf(await ask(policyOf(new Idp(), { mcp: { resourceMetadata } }), at))).toMatchObject({
      resource: 'https://mcp.example/mcp',
      scopes_supported: ['read'],
      deep_value: { someKey: 1 },
    })
  })

  it('answers preflights and rejects other methods', async () => {
    const policy = policyOf(new Idp())
    expect((await ask(policy, { ...at, method: 'OPTIONS' })).response?.status).toBe(204)
    expect((await ask(policy, { ...at, method: 'POST' })).response?.status).toBe(405)
  })
})

describe('metadata of the identity provider', () => {
  it.each<[McpOauth['provider'], string, string, object]>([
    [undefined, ISSUER, 'https://idp.example:443/.well-known/oauth-authorization-server/realms/a', {}],
    [
      'Auth0',
      'https://idp.example/',
      'https://idp.example:443/.well-known/oauth-authorization-server',
      { authorization_endpoint: 'https://idp.example/auth?x=1&audience=one%26two' },
    ],
    [
      'Keycloak',
      ISSUER,
      'https://idp.example:443/realms/a/.well-known/openid-configuration',
      { registration_endpoint: `${HERE}/client-registration` },
    ],
    [
      'Okta',
      ISSUER,
      'https://idp.example:443/realms/a/.well-known/openid-configuration',
      {
        authorization_endpoint: 'https://idp.example/auth?x=1&audience=one%26two',
        registration_endpoint: `${HERE}/client-registration`,
      },
    ],
    [
      'Descope',
      'http://idp.example:8080/v1/apps/agentic/p/s',
      'http://idp.example:8080/v1/apps/agentic/p/s/.well-known/openid-configuration',
      { registration_endpoint: `${HERE}/client-registration` },
    ],
    ['Authentik', ISSUER, 'https://idp.example:443/realms/a/.well-known/openid-configuration', {}],
    [
      'Entra',
      'https://sts.windows.net/tenant/',
      'https://login.microsoftonline.com:443/tenant/v2.0/.well-known/openid-configuration',
      {
        authorization_endpoint: `${HERE}/authorize`,
        token_endpoint: `${HERE}/token`,
        code_challenge_methods_supported: ['S256'],
      },
    ],
  ])('%s', async (provider, issuer, url, changes) => {
    const idp = new Idp()
    const mcp = provider === undefined ? {} : { provider }
    const policy = policyOf(idp, { issuer, audiences: ['one&two', 'three'], mcp })
    expect(jsonOf(await ask(policy, { path: SERVER }))).toEqual({ ...AT_IDP, issuer: GATEWAY, ...changes })
    await ask(policy, { path: SERVER })
    // Cached: requests do not reach the provider.
    expect(idp.urls()).toEqual([`GET ${url}`])
  })

  it('with a client identifier every client registers at the gateway', async () => {
    const policy = policyOf(new Idp(), { mcp: { provider: 'Authentik', clientId: 'c' } })
    expect(jsonOf(await ask(policy, { path: SERVER }))).toMatchObject({
      registration_endpoint: `${HERE}/client-registration`,
    })
  })

  it.each([
    ['no answer', undefined],
    ['a status', { status: 500, body: '{}' }],
    ['no JSON', { status: 200, body: '<' }],
    ['no object', { status: 200, body: '[]' }],
  ])('%s is a failure, and is not remembered', async (_name, answer) => {
    const idp = new Idp()
    const policy = policyOf(idp)
    idp.metadata = answer
    const { response, failure } = await ask(policy, { path: SERVER })
    expect([response?.status, failure]).toEqual([502, 'identityProviderFailed'])
    idp.metadata = { status: 200, body: '{"scopes_supported":["s"]}' }
    expect(jsonOf(await ask(policy, { path: SERVER }))).toMatchObject({ scopes_supported: ['s'] })
  })
})

describe('registration', () => {
  const post = { path: `${SERVER}/client-registration`, method: 'POST', body: '{"redirect_uris":["http://l/cb"]}' }

  it.each<[McpOauth['provider'], string, string | undefined]>([
    [undefined, ISSUER, `${ISSUER}/clients-registrations/openid-connect`],
    ['Keycloak', `${ISSUER}/`, `${ISSUER}/clients-registrations/openid-connect`],
    ['Okta', 'https://idp.example/oauth2/default', 'https://idp.example/oauth2/v1/clients'],
    ['Descope', 'https://d.example/v1/apps/agentic/p/s', 'https://d.example/v1/mgmt/mcp/client/p/s/register'],
    ['Descope', 'https://d.example/p', undefined],
    ['Auth0', ISSUER, undefined],
    ['Entra', ISSUER, undefined],
    ['Keycloak', 'no url', undefined],
  ])('%s at %s', (provider, issuer, expected) => {
    const settings = { issuer, provider, audiences: undefined, clientId: undefined, hasClientSecret: false }
    expect(registrationUrl(settings, {})).toBe(expected)
  })

  it('is forwarded with its body, and so is the response', async () => {
    const idp = new Idp()
    idp.answer = { status: 201, body: '{"client_id":"new"}' }
    const exchange = await ask(policyOf(idp, { mcp: { provider: 'Keycloak' } }), {
      ...post,
      headers: [
        ['content-type', 'application/json'],
        ['cookie', 'session'],
        ['authorization', 'Bearer of-the-gateway'],
      ],
    })
    expect([exchange.response?.status, jsonOf(exchange)]).toEqual([201, { client_id: 'new' }])
    expect(idp.calls()).toEqual([`POST https://idp.example:443/realms/a/clients-registrations/openid-connect`])
    const sent = idp.asked.at(-1)
    expect(String(sent?.request.body)).toBe(post.body)
    for (const name of ['cookie', 'authorization']) expect(sent?.request.headers.has(name)).toBe(false)
  })

  it('is answered by the gateway if a client is configured', async () => {
    const idp = new Idp()
    const exchange = await ask(policyOf(idp, { mcp: { clientId: 'ours' } }), post)
    expect([exchange.response?.status, jsonOf(exchange)]).toEqual([
      201,
      {
        client_id: 'ours',
        client_id_issued_at: 0,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: ['http://l/cb'],
      },
    ])
    expect(idp.asked).toEqual([])
  })

  it('is limited for one client', async () => {
    const policy = policyOf(new Idp(), { mcp: { clientId: 'ours' } })
    const statuses: (number | undefined)[] = []
    for (let i = 0; i < 31; i++) statuses.push((await ask(policy, post)).response?.status)
    expect(new Set(statuses.slice(0, 30))).toEqual(new Set([201]))
    expect(statuses.at(-1)).toBe(429)
  })

  it.each(['javascript:alert(1)', 'https://user@evil.example/', 'https://a.example/#f', 'https://a.example/\n'])(
    'is rejected with the redirect URI %j',
    async (uri) => {
      const idp = new Idp()
      for (const mcp of [{ clientId: 'ours' }, { provider: 'Keycloak' }] as const) {
        const body = JSON.stringify({ redirect_uris: ['http://localhost/cb', uri] })
        const exchange = await ask(policyOf(idp, { mcp }), { ...post, body })
        expect([exchange.response?.status, jsonOf(exchange)]).toMatchObject([400, { error: 'invalid_redirect_uri' }])
      }
      expect(idp.calls()).toEqual([])
    },
  )

  it('is bounded, and does not exist if the provider has none', async () => {
    const large = await ask(policyOf(new Idp(), { mcp: { provider: 'Keycloak' } }), {
      ...post,
      body: 'x'.repeat(65_537),
    })
    expect(large.response?.status).toBe(413)
    expect((await ask(policyOf(new Idp(), { mcp: { provider: 'Auth0' } }), post)).response?.status).toBe(404)
  })
})

describe('Entra', () => {
  const mcp = { provider: 'Entra', clientId: 'ours', clientSecret: { secret: 's' } } as const
  const setup = { mcp, issuer: 'https://idp.example/t/v2.0' }

  it.each([
    ['no PKCE', 'client_id=ours'],
    ['PKCE with a plain verifier', `code_challenge_method=plain&code_challenge=${'c'.repeat(43)}`],
    ['a repeated parameter', `${PKCE}&redirect_uri=http%3A%2F%2Flocalhost&redirect_uri=https%3A%2F%2Fevil.example`],
    ['a redirect URI that a browser runs', `${PKCE}&redirect_uri=javascript%3Aalert(1)`],
  ])('gets no authorization request with %s', async (_name, query) => {
    const { response } = await ask(policyOf(new Idp(), setup), { path: `${SERVER}/authorize`, query })
    expect([response?.status, response?.headers.get('location')]).toEqual([400, undefined])
  })

  it('gets no code without a verifier', async () => {
    const idp = new Idp()
    const body = 'client_id=ours&grant_type=authorization_code&code=c'
    const exchange = await ask(policyOf(idp, setup), { path: `${SERVER}/token`, method: 'POST', body })
    expect([exchange.response?.status, jsonOf(exchange)]).toMatchObject([400, { error: 'invalid_request' }])
    expect(idp.calls()).toEqual([])
  })

  it('gets no request at another origin than that of its issuer', async () => {
    const idp = new Idp()
    const metadata = { ...AT_IDP, token_endpoint: 'http://169.254.169.254/token' }
    idp.metadata = { status: 200, body: JSON.stringify(metadata) }
    const { response, errorDetail } = await ask(policyOf(idp, setup), {
      path: `${SERVER}/token`,
      method: 'POST',
      body: 'client_id=ours&grant_type=refresh_token',
    })
    expect([response?.status, errorDetail]).toEqual([502, expect.stringContaining('not at the origin of the issuer')])
    expect(idp.calls()).toEqual([])
  })

  it('gets no token request without the secret of the configuration', async () => {
    const idp = new Idp()
    const absent = { ...setup, mcp: { ...mcp, clientSecret: { secret: 'absent' } } }
    const body = 'client_id=ours&grant_type=refresh_token'
    const exchange = await ask(policyOf(idp, absent), { path: `${SERVER}/token`, method: 'POST', body })
    expect([exchange.response?.status, exchange.errorDetail]).toEqual([502, 'the secret of the client is missing'])
    expect(idp.calls()).toEqual([])
  })

  it('gets a bounded number of token requests of one client', async () => {
    const idp = new Idp()
    const policy = policyOf(idp, setup)
    const post = { path: `${SERVER}/token`, method: 'POST', body: 'client_id=ours&grant_type=refresh_token' }
    const statuses = new Set<number | undefined>()
    for (let i = 0; i < 301; i++) statuses.add((await ask(policy, post)).response?.status)
    expect([...statuses]).toEqual([200, 429])
    expect(idp.calls()).toHaveLength(300)
  })

  it('gets authorization requests without the parameter that it rejects', async () => {
    const { response } = await ask(policyOf(new Idp(), setup), {
      path: `${SERVER}/authorize`,
      query: `client_id=ours&resource=https%3A%2F%2Fgw&state=a%26b&${PKCE}`,
    })
    expect([response?.status, response?.headers.get('location')]).toEqual([
      302,
      `https://idp.example/auth?x=1&client_id=ours&state=a%26b&${PKCE}`,
    ])
  })

  it.each([
    [
      'client_id=ours&grant_type=authorization_code&code_verifier=v&resource=r',
      'client_id=ours&grant_type=authorization_code&code_verifier=v&client_secret=idp-secret',
    ],
    ['client_id=ours&grant_type=refresh_token', 'client_id=ours&grant_type=refresh_token&client_secret=idp-secret'],
    ['client_id=ours&grant_type=client_credentials', 'client_id=ours&grant_type=client_credentials'],
    [
      'client_id=theirs&grant_type=authorization_code&code_verifier=v',
      'client_id=theirs&grant_type=authorization_code&code_verifier=v',
    ],
    ['grant_type=authorization_code&code_verifier=v', 'grant_type=authorization_code&code_verifier=v'],
  ])('token request %s', async (body, sent) => {
    const idp = new Idp()
    await ask(policyOf(idp, setup), { path: `${SERVER}/token`, method: 'POST', body })
    expect(idp.urls().at(-1)).toBe('POST https://idp.example:443/token')
    expect(String(idp.asked.at(-1)?.request.body)).toBe(sent)
  })

  it('only: other providers have no such paths', async () => {
    for (const path of [`${SERVER}/authorize`, `${SERVER}/token`]) {
      const method = path.endsWith('token') ? 'POST' : 'GET'
      const { response } = await ask(policyOf(new Idp(), { mcp: { provider: 'Okta' } }), { path, method })
      expect(response?.status).toBe(404)
    }
  })
})
