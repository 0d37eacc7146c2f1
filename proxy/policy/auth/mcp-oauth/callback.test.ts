// Sign-in at a provider that names itself in its responses (RFC 9207): the user returns through the gateway.
import { expect, it } from 'vitest'
import type { ServiceCaller, ServiceHttpRequest } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import { authEnvironment, exchangeOf, textOf, type ExchangeParts } from '../../exchange.testing.ts'
import { compileJwtAuthentication } from '../jwt-authentication.ts'
import { STATE_MS_MAX, stateCodec } from './authorization-state.ts'

const ISSUER = 'https://idp.example/realms/a'
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: 'https://idp.example/auth',
  token_endpoint: 'https://idp.example/token',
  registration_endpoint: `${ISSUER}/clients-registrations/openid-connect`,
  response_types_supported: ['code', 'id_token'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  pushed_authorization_request_endpoint: 'https://idp.example/par',
  signed_metadata: 'x.y.z',
}
const SERVER = '/.well-known/oauth-authorization-server/mcp'
const CALLBACK = `https://gw.example${SERVER}/callback`
const PKCE = `code_challenge=${'c'.repeat(43)}&code_challenge_method=S256`
const REQUEST = `response_type=code&client_id=ours&state=of%26client&${PKCE}`
const LOCAL = 'redirect_uri=http%3A%2F%2Flocalhost%3A9%2Fcb%3Fa%3D1'

function gateway({ clientId, redirectUris }: { clientId?: string; redirectUris?: readonly string[] } = {}) {
  const sent: ServiceHttpRequest[] = []
  const caller: ServiceCaller = {
    http: (_exchange, request) => {
      sent.push(request)
      const registered = { client_id: 'new', redirect_uris: [CALLBACK], registration_access_token: 'secret' }
      const body = JSON.stringify(request.path.includes('.well-known') ? METADATA : registered)
      return Promise.resolve(new HttpResponse(200, HeaderList.of([]), Buffer.from(body), false))
    },
    unary: () => Promise.reject(new Error('not used')),
    answerMs: 1000,
    stream: () => {
      throw new Error('not used')
    },
  }
  const mcpSignIn = { redirectUris, sealKeys: [new Uint8Array(32)] }
  const mcp = clientId === undefined ? { provider: 'Keycloak' as const } : { clientId }
  const policy = compileJwtAuthentication(
    { mode: 'Strict', mcp, providers: [{ issuer: ISSUER, jwks: '{"keys":[]}' }] },
    { ...authEnvironment(), origin: () => caller, mcpSignIn },
  )
  const ask = async (parts: ExchangeParts): Promise<Exchange> => {
    const exchange = exchangeOf({ host: 'gw.example', scheme: 'https', ...parts })
    exchange.response = (await policy.request(exchange)) ?? undefined
    return exchange
  }
  const locationOf = async (parts: ExchangeParts): Promise<URL | null> =>
    URL.parse((await ask(parts)).response?.headers.get('location') ?? '')
  return { ask, locationOf, sent }
}

const authorize = (query: string): ExchangeParts => ({ path: `${SERVER}/authorize`, query })
const callback = (query: Record<string, string>): ExchangeParts => ({
  path: `${SERVER}/callback`,
  query: new URLSearchParams(query).toString(),
})

it('has metadata of its own', async () => {
  const { response } = await gateway({ clientId: 'ours' }).ask({ path: SERVER })
  expect(JSON.parse(textOf(response?.body) ?? '')).toEqual({
    issuer: 'https://gw.example/mcp',
    authorization_endpoint: `https://gw.example${SERVER}/authorize`,
    token_endpoint: `https://gw.example${SERVER}/token`,
    registration_endpoint: `https://gw.example${SERVER}/client-registration`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })
})

it('the user goes to the provider and returns in the name of the gateway', async () => {
  const { locationOf } = gateway()
  const there = await locationOf(authorize(`${REQUEST}&${LOCAL}`))
  expect([there?.origin, there?.pathname]).toEqual(['https://idp.example', '/auth'])
  const { state = '', ...sent } = Object.fromEntries(there?.searchParams ?? [])
  expect(sent).toMatchObject({ client_id: 'ours', redirect_uri: CALLBACK, code_challenge: 'c'.repeat(43) })
  expect(state).not.toContain('client')
  const back = await locationOf(callback({ code: 'c-1', state, iss: ISSUER, other: 'x' }))
  expect(back?.href).toBe('http://localhost:9/cb?a=1&code=c-1&state=of%26client&iss=https%3A%2F%2Fgw.example%2Fmcp')
  const denied = await locationOf(callback({ error: 'access_denied', state, iss: ISSUER }))
  expect(denied?.searchParams.get('error')).toBe('access_denied')
})

it.each([
  ['no state', { code: 'c', iss: ISSUER }],
  ['a state that the gateway has not sealed', { code: 'c', iss: ISSUER, state: 'AwAAAAAAAA' }],
  ['the name of another issuer', { code: 'c', iss: 'https://evil.example', state: 'sealed' }],
  ['no name of an issuer', { code: 'c', state: 'sealed' }],
])('rejects a response with %s', async (_name, query: Record<string, string>) => {
  const { ask, locationOf } = gateway()
  const sealed = (await locationOf(authorize(`${REQUEST}&${LOCAL}`)))?.searchParams.get('state') ?? ''
  const { response } = await ask(callback({ ...query, ...(query['state'] === 'sealed' && { state: sealed }) }))
  expect([response?.status, response?.headers.get('location')]).toEqual([400, undefined])
})

it('rejects a state of another MCP server', async () => {
  const { ask, locationOf } = gateway()
  const there = await locationOf(authorize(`${REQUEST}&${LOCAL}`))
  const query = { code: 'c', iss: ISSUER, state: there?.searchParams.get('state') ?? '' }
  const { response } = await ask({ ...callback(query), path: SERVER.replace('/mcp', '/other/callback') })
  expect(response?.status).toBe(400)
})

it.each([
  ['the address of an attacker', `${REQUEST}&redirect_uri=https%3A%2F%2Fevil.example%2F`],
  ['no redirect URI', REQUEST],
  ['a request object', `${REQUEST}&${LOCAL}&request=x`],
  ['a response in the fragment', `${REQUEST}&${LOCAL}&response_mode=fragment`],
  ['an implicit grant', `${REQUEST.replace('=code', '=token')}&${LOCAL}`],
])('rejects an authorization request with %s', async (_name, query) => {
  const { response } = await gateway().ask(authorize(query))
  expect([response?.status, response?.headers.get('location')]).toEqual([400, undefined])
})

it('allows the redirect URIs of the list only', async () => {
  const { locationOf } = gateway({ redirectUris: ['https://app.example/cb'] })
  const uri = 'redirect_uri=https%3A%2F%2Fapp.example%2Fcb'
  expect(await locationOf(authorize(`${REQUEST}&${uri}`))).not.toBeNull()
  expect(await locationOf(authorize(`${REQUEST}&${LOCAL}`))).toBeNull()
})

it('registers clients with the redirect URI of the gateway', async () => {
  const { ask, sent } = gateway()
  const body = JSON.stringify({ client_name: 'a', redirect_uris: ['http://localhost/cb'] })
  const { response } = await ask({ path: `${SERVER}/client-registration`, method: 'POST', body })
  expect(JSON.parse(String(sent.at(-1)?.body))).toEqual({ client_name: 'a', redirect_uris: [CALLBACK] })
  expect(JSON.parse(textOf(response?.body) ?? '')).toEqual({ client_id: 'new', redirect_uris: ['http://localhost/cb'] })
})

it('redeems codes with the redirect URI of the gateway', async () => {
  const { ask, sent } = gateway()
  const body = 'grant_type=authorization_code&code=c&code_verifier=v&redirect_uri=http%3A%2F%2Flocalhost%2Fcb'
  await ask({ path: `${SERVER}/token`, method: 'POST', body })
  expect(new URLSearchParams(String(sent.at(-1)?.body)).get('redirect_uri')).toBe(CALLBACK)
})

it('a sign-in ends after a quarter of an hour', () => {
  let nowMs = 1_000_000
  const codec = stateCodec([new Uint8Array(32)], () => nowMs)
  const state = { issuer: 'i', redirectUri: 'http://localhost/', state: undefined }
  const sealed = codec.encode(state)
  nowMs += STATE_MS_MAX - 1
  expect(codec.decode(sealed, 'i')).toEqual(state)
  nowMs += 1
  expect(codec.decode(sealed, 'i')).toBeUndefined()
})
