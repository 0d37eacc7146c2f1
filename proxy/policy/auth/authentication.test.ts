// Authentication through a real proxy: several schemes on one route, with authorization, and the backend's request.
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  ApiKeyAuthentication,
  BasicAuthentication,
  JwtAuthentication,
  Policy,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { testIssuer, type TestIssuer } from '../../auth/jwt.testing.ts'

const USERS = 'alice:$2y$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm'
const API_KEY = 'planted-api-key'
const SECRETS = {
  'ns/users/.htpasswd': USERS,
  'ns/keys/one': JSON.stringify({ key: API_KEY, metadata: { team: 'blue' } }),
}
const BASIC = `Basic ${Buffer.from('alice:password').toString('base64')}`

let upstream: Server
let issuer: TestIssuer
let gateway: TestProxy
let early: TestProxy

interface Seen {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const policy = (name: string, target: Policy['target'], traffic: TrafficPayload, phase?: Policy['phase']): Policy => ({
  key: `traffic/ns/${name}`,
  name: { kind: 'GwPolicy', namespace: 'ns', name },
  target,
  ...(phase && { phase }),
  policy: { traffic },
})
const onRoute = (name: string): Policy['target'] => ({ route: { kind: 'HTTPRoute', namespace: 'ns', name } })
const onGateway: Policy['target'] = { gateway: { namespace: 'ns', name: 'gw' } }

beforeAll(async () => {
  issuer = await testIssuer('https://issuer.example')
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // Challenges of a backend for its own proxy are not for the client.
      response.setHeader('proxy-authenticate', 'Basic realm="backend"')
      const seen: Seen = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
      response.end(JSON.stringify(seen))
    })
  })
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  const jwtAuthentication: JwtAuthentication = { mode: 'Strict', providers: [issuer.provider] }
  const optional: JwtAuthentication = { ...jwtAuthentication, mode: 'Optional' }
  const apiKeyAuthentication: ApiKeyAuthentication = {
    mode: 'Strict',
    keys: [{ secret: 'ns/keys/one' }],
    location: { queryParameter: { name: 'key' } },
  }
  const basicAuthentication: BasicAuthentication = {
    mode: 'Strict',
    realm: 'Staff',
    users: { secret: 'ns/users/.htpasswd' },
    location: { header: { name: 'proxy-authorization', prefix: 'Basic ' } },
  }
  const route = (name: string, inline?: TrafficPayload, backendInline?: TestRoute['backendInline']): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend,
    ...(inline && { inline }),
    ...(backendInline && { backendInline }),
  })
  gateway = await testProxy({
    secrets: SECRETS,
    routes: [
      route('all', { jwtAuthentication, basicAuthentication }),
      route('pass', undefined, { auth: { passthrough: true } }),
      route('open', { jwtAuthentication: optional }, { auth: { passthrough: true } }),
      route('no-keys', {
        jwtAuthentication: { mode: 'Strict', providers: [{ issuer: issuer.issuer, unavailable: 'not fetched' }] },
      }),
      route('no-users', {
        jwtAuthentication: optional,
        basicAuthentication: { mode: 'Strict', realm: 'r', users: { secret: 'ns/none' } },
      }),
      route('no-api-keys', {
        jwtAuthentication: optional,
        apiKeyAuthentication: {
          mode: 'Strict',
          keys: [{ secret: 'ns/none' }],
          location: { header: { name: 'authorization', prefix: 'Key ' } },
        },
      }),
    ],
    policies: [
      // Everything below the gateway requires a token; a route may override it.
      policy('gateway', onGateway, { jwtAuthentication }),
      policy('all-key', onRoute('all'), { apiKeyAuthentication }),
      policy('all-claims', onRoute('all'), {
        authorization: { action: 'Require', matchExpressions: ['"admin" in jwt.roles && jwt.level > 2'] },
      }),
      policy('all-team', onRoute('all'), {
        authorization: {
          action: 'Require',
          matchExpressions: ['apiKey.team == "blue"', 'basicAuth.username == "alice"'],
        },
      }),
    ],
  })
  early = await testProxy({
    routes: [route('any')],
    policies: [
      policy('jwt', onGateway, { jwtAuthentication }, 'PreRouting'),
      policy('claims', onGateway, { authorization: { action: 'Allow', matchExpressions: ['jwt.sub == "someone"'] } }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  await early.stop()
  closeServer(upstream)
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Not fetch, which returns no response with status 407. */
function ask(url: string, headers: Readonly<Record<string, string>>, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const seenBy = (answer: Answer): Seen => {
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return JSON.parse(answer.text) as Seen // what the upstream of this test writes
}

const admin = (): Promise<string> => issuer.token({ roles: ['admin'], level: 3 })

describe('three schemes and rules on one route', () => {
  it('allows a request with all of them, and removes the credentials', async () => {
    const headers = { authorization: `Bearer ${await admin()}`, 'proxy-authorization': BASIC, 'x-own': 'kept' }
    // Twice: the second time all results are remembered.
    for (let i = 0; i < 2; i++) {
      const answer = await ask(`${gateway.url}/all/x?a=1&key=${API_KEY}&b=2`, headers, 'POST', 'payload')
      const seen = seenBy(answer)
      expect(answer.headers['proxy-authenticate']).toBeUndefined()
      expect(seen).toMatchObject({ path: '/all/x?a=1&b=2', body: 'payload' })
      expect(seen.headers).toMatchObject({ 'x-own': 'kept' })
      expect([seen.headers.authorization, seen.headers['proxy-authorization']]).toEqual([undefined, undefined])
    }
  })

  it.each<[string, { jwt?: string; basic?: string; key?: string }, number, string]>([
    ['the token is missing', { jwt: '' }, 401, 'authentication failure: no token found'],
    ['the token is wrong', { jwt: 'x.y.z' }, 401, 'authentication failure: malformed token'],
    ['the user is missing', { basic: '' }, 407, 'basic authentication failure: no credentials found'],
    ['the user is wrong', { basic: 'Basic eDp5' }, 407, 'basic authentication failure: invalid credentials'],
    ['the key is missing', { key: '' }, 401, 'api key authentication failure: no API Key found'],
    ['the key is wrong', { key: 'other' }, 401, 'api key authentication failure: invalid credentials'],
  ])('rejects when %s', async (_, { jwt, basic = BASIC, key = API_KEY }, status, text) => {
    const token = jwt ?? (await admin())
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(basic !== '' && { 'proxy-authorization': basic }),
    }
    const answer = await ask(`${gateway.url}/all${key === '' ? '' : `?key=${key}`}`, headers)
    expect([answer.status, answer.text]).toEqual([status, text])
    expect(answer.headers['proxy-authenticate']).toBe(status === 407 ? 'Basic realm="Staff"' : undefined)
    expect(answer.headers['www-authenticate']).toBeUndefined()
  })

  it.each([{ roles: ['reader'], level: 3 }, { roles: ['admin'], level: 2 }, { level: 3 }])(
    'refuses claims %j by the rules',
    async (claims) => {
      const headers = { authorization: `Bearer ${await issuer.token(claims)}`, 'proxy-authorization': BASIC }
      const answer = await ask(`${gateway.url}/all?key=${API_KEY}`, headers)
      expect([answer.status, answer.text]).toEqual([403, 'authorization failed'])
    },
  )
})

describe('passthrough', () => {
  it('sends the verified token to the backend', async () => {
    const authorization = `Bearer ${await issuer.token()}`
    expect(seenBy(await ask(`${gateway.url}/pass`, { authorization })).headers.authorization).toBe(authorization)
  })

  it('sends no unverified token', async () => {
    expect(seenBy(await ask(`${gateway.url}/open`, {})).headers.authorization).toBeUndefined()
    expect((await ask(`${gateway.url}/open`, { authorization: 'Bearer a.b.c' })).status).toBe(401)
    expect((await ask(`${gateway.url}/pass`, {})).status).toBe(401)
  })
})

it('a policy of the gateway may run before routing, and later rules see its claims', async () => {
  expect((await ask(`${early.url}/any`, {})).text).toBe('authentication failure: no token found')
  expect((await ask(`${early.url}/nowhere`, {})).status).toBe(401)
  seenBy(await ask(`${early.url}/any`, { authorization: `Bearer ${await issuer.token()}` }))
  const stranger = await issuer.token({ sub: 'stranger' })
  expect((await ask(`${early.url}/any`, { authorization: `Bearer ${stranger}` })).status).toBe(403)
})

it.each<[string, string | undefined, string]>([
  ['no-keys', undefined, 'authentication failure: no token found'],
  ['no-keys', 'a token', 'authentication failure: unknown key'],
  ['no-users', undefined, 'basic authentication failure: no credentials found'],
  ['no-users', BASIC, 'basic authentication failure: invalid credentials'],
  ['no-api-keys', undefined, 'api key authentication failure: no API Key found'],
  ['no-api-keys', `Key ${API_KEY}`, 'api key authentication failure: invalid credentials'],
])('a policy without usable keys rejects all requests: %s with %s', async (name, credential, text) => {
  const authorization = credential === 'a token' ? `Bearer ${await admin()}` : credential
  const answer = await ask(`${gateway.url}/${name}`, authorization === undefined ? {} : { authorization })
  expect([answer.status, answer.text]).toEqual([401, text])
})

it('the dump contains references, never secrets', async () => {
  const { text } = await ask(`http://127.0.0.1:${gateway.proxy.ports.admin}/config_dump`, {})
  expect(text).toContain('ns/keys/one')
  expect(text).toContain('https://issuer.example')
  for (const secret of [API_KEY, USERS.slice(6)]) expect(text).not.toContain(secret)
})

it('a change of keys applies at once, and missing keys are reported', async () => {
  const headers = { authorization: `Bearer ${await admin()}`, 'proxy-authorization': BASIC }
  const url = `${gateway.url}/all?key=${API_KEY}`
  seenBy(await ask(url, headers))
  const withSecrets = (values: Readonly<Record<string, string>>) =>
    gateway.proxy.apply(gateway.config, {
      version: 1,
      secrets: Object.entries(values).map(([key, value]) => ({ key, value })),
    })
  try {
    expect(await withSecrets({ ...SECRETS, 'ns/users/.htpasswd': 'bob:plain' })).toMatchObject({
      warnings: expect.arrayContaining([
        'route ns/all.00.http: basicAuthentication: no users: all credentials are rejected',
        'route ns/no-keys.00.http: jwtAuthentication: issuer https://issuer.example: not fetched',
        'route ns/no-api-keys.00.http: apiKeyAuthentication: API key ns/none is not used: its secret is missing',
      ]),
    })
    expect((await ask(url, headers)).text).toBe('basic authentication failure: invalid credentials')
    await withSecrets({ 'ns/users/.htpasswd': USERS })
    expect((await ask(url, headers)).text).toBe('api key authentication failure: invalid credentials')
  } finally {
    await withSecrets(SECRETS)
  }
  seenBy(await ask(url, headers))
})
