// The filter of token exchange with a real token store and an emulated token endpoint.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OAuthTokenExchange } from '#api/ir/types.gen.ts'
import { type Authority, exchangeServer, idToken, send } from '../../credentials/oauth/authorities.testing.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { workers } from '../../credentials/workers.testing.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf, expression, upstreamResponse } from '../../policy/exchange.testing.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import { compileBackendAuth } from '../auth.ts'
import type { AuthEnvironment } from './kind.ts'

let server: Authority
let service: TestService

beforeEach(async () => {
  server = await exchangeServer()
  service = testService(server.port)
})
afterEach(() => {
  server.close()
  service.close()
})

const TYPE = 'urn:ietf:params:oauth:token-type:'
const OPEN: OAuthTokenExchange = {
  service: { backend: 'sts' },
  path: '/token?tenant=1',
  grantType: 'TokenExchange',
  subjectToken: { tokenType: 'AccessToken' },
}
const POLICY: OAuthTokenExchange = {
  ...OPEN,
  clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 'n/sts/clientSecret' } },
}
const ACTOR = { source: { header: { name: 'x-actor' } }, tokenType: 'Jwt' }
const SECRETS = new Map([['n/sts/clientSecret', 'sts-secret']])

function filter(more: Partial<OAuthTokenExchange> = {}, secrets = SECRETS, tokens = new WorkerTokenStore()) {
  return filterOf({ ...POLICY, ...more }, secrets, tokens)
}

function filterOf(
  policy: OAuthTokenExchange,
  secrets = SECRETS,
  tokens: AuthEnvironment['tokens'] = new WorkerTokenStore(),
  caller: Pick<TestService['caller'], 'http' | 'answerMs'> = service.caller,
) {
  // What this kind does not use is left out.
  const environment = {
    tokens,
    expression,
    secret: ({ secret }: { secret: string }) => secrets.get(secret),
    service: ({ backend }: { backend?: string }) => (backend === 'sts' ? caller : undefined),
  } as unknown as AuthEnvironment
  const { request } = compileBackendAuth({ oauthTokenExchange: policy }, environment)
  return async (exchange: Exchange) => request?.(exchange)
}

const bearer = (token: string, more: readonly (readonly [string, string])[] = [], query = '') =>
  exchangeOf({ headers: [['authorization', `Bearer ${token}`], ...more], query })

const formOf = (index: number) => Object.fromEntries(server.forms[index] ?? [])

describe('oauthTokenExchange', () => {
  it('replaces the token of the client, and asks the endpoint once for a subject', async () => {
    const run = filter()
    const [ann, bob] = [await idToken('ann'), await idToken('bob')]
    const tokens: unknown[] = []
    for (const subject of [ann, ann, bob]) {
      const exchange = bearer(subject)
      expect(await run(exchange)).toBeUndefined()
      tokens.push(exchange.request.headers.getAll('authorization'))
    }
    expect(tokens).toEqual([['Bearer ex.ann.1'], ['Bearer ex.ann.1'], ['Bearer ex.bob.2']])
    expect(server.forms.map((form) => [...form])).toEqual(
      [ann, bob].map((subject) => [
        ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
        ['subject_token', subject],
        ['subject_token_type', `${TYPE}access_token`],
      ]),
    )
  })

  it('may take as long as `requestTimeout` of the token endpoint', async () => {
    const waits: (number | undefined)[] = []
    const store = new WorkerTokenStore()
    const tokens: AuthEnvironment['tokens'] = {
      get: (source, usedBy) => {
        waits.push(source.fetchMs)
        return store.get(source, usedBy)
      },
      invalidate: () => false,
    }
    const slow = { ...service.caller, answerMs: 45_000 }
    expect(await filterOf(POLICY, SECRETS, tokens, slow)(bearer(await idToken('ann')))).toBeUndefined()
    expect(waits).toEqual([45_000])
  })

  it('sends all that is set, in fields of their own', async () => {
    const run = filter({
      subjectToken: { tokenType: 'IdToken', source: { queryParameter: { name: 'token' } } },
      actorToken: ACTOR,
      audiences: ['a', 'b c'],
      resources: ['https://r.test/1', 'https://r.test/2'],
      scopes: ['read', 'write'],
      requestedTokenType: 'Jwt',
      additionalParams: [
        { name: 'tenant', expression: 'request.headers["x-tenant"]' },
        { name: 'fixed', expression: '"a&b"' },
      ],
      location: { header: { name: 'x-token', prefix: 'Token ' } },
    })
    const [subject, actor] = [await idToken('ann'), await idToken('agent')]
    const headers = [
      ['x-actor', actor],
      ['x-tenant', 'shop'],
    ] as const
    const exchange = exchangeOf({ headers, query: `a=1&token=${subject}` })
    expect(await run(exchange)).toBeUndefined()
    expect([...(server.forms[0] ?? [])]).toEqual([
      ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      ['subject_token', subject],
      ['subject_token_type', `${TYPE}id_token`],
      ['actor_token', actor],
      ['actor_token_type', `${TYPE}jwt`],
      ['requested_token_type', `${TYPE}jwt`],
      ['audience', 'a'],
      ['audience', 'b c'],
      ['scope', 'read write'],
      ['resource', 'https://r.test/1'],
      ['resource', 'https://r.test/2'],
      ['tenant', 'shop'],
      ['fixed', 'a&b'],
    ])
    const { request } = exchange
    expect(request.headers.get('x-token')).toBe('Token ex.ann.1')
    expect(request.headers.get('x-actor')).toBeUndefined()
    expect([request.query, request.headers.get('authorization')]).toEqual(['a=1', undefined])
  })

  it('sends the assertion of the grant JwtBearer, and the same fields after it', async () => {
    const run = filter({ grantType: 'JwtBearer', audiences: ['a'], scopes: ['read'], resources: ['https://r.test'] })
    const subject = await idToken('ann')
    expect(await run(bearer(subject))).toBeUndefined()
    expect([...(server.forms[0] ?? [])]).toEqual([
      ['grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      ['assertion', subject],
      ['audience', 'a'],
      ['scope', 'read'],
      ['resource', 'https://r.test'],
    ])
  })

  it('sends types of tokens that are URIs as they are, and no client without clientAuth', async () => {
    server.override = (response) =>
      send(response, { status: 200, body: { access_token: 'at', token_type: 'bearer', issued_token_type: 'other' } })
    const run = filterOf({ ...OPEN, subjectToken: { tokenType: 'urn:x:saml' } })
    const exchange = bearer('opaque')
    expect(await run(exchange)).toBeUndefined()
    expect(formOf(0)).toMatchObject({ subject_token: 'opaque', subject_token_type: 'urn:x:saml' })
    expect(exchange.request.headers.get('authorization')).toBe('Bearer at')
  })

  it('asks again for other actors, parameters, and after a rotation of the secret', async () => {
    const store = new WorkerTokenStore()
    const more: Partial<OAuthTokenExchange> = {
      actorToken: ACTOR,
      additionalParams: [{ name: 'tenant', expression: 'request.headers["x-tenant"]' }],
    }
    const run = filter(more, SECRETS, store)
    const [subject, one, two] = [await idToken('ann'), await idToken('one'), await idToken('two')]
    const ask = (actor: string, tenant: string) =>
      bearer(subject, [
        ['x-actor', actor],
        ['x-tenant', tenant],
      ])
    for (const exchange of [ask(one, 'a'), ask(one, 'a'), ask(two, 'a'), ask(one, 'b')]) {
      expect(await run(exchange)).toBeUndefined()
    }
    expect(server.forms.length).toBe(3)
    const rotated = filter(more, new Map([['n/sts/clientSecret', 'rotated']]), store)
    expect(await rotated(ask(one, 'a'))).toMatchObject({ status: 500 })
    expect(server.forms.length).toBe(4)
  })

  it.each([
    ['no subject token', {}, []],
    ['no actor token', { actorToken: ACTOR }, [['authorization', 'Bearer t']]],
    [
      'additionalParams.tenant is not a text',
      { additionalParams: [{ name: 'tenant', expression: '1' }] },
      [['authorization', 'Bearer t']],
    ],
    [
      'additionalParams.tenant is not a text',
      { additionalParams: [{ name: 'tenant', expression: 'request.headers["x-missing"]' }] },
      [['authorization', 'Bearer t']],
    ],
  ] as const)('answers with 400 for a request with %s, and calls no server', async (problem, more, headers) => {
    const exchange = exchangeOf({ headers: headers as never })
    const response = await filter(more as Partial<OAuthTokenExchange>)(exchange)
    expect(response).toMatchObject({ status: 400 })
    expect(exchange.errorDetail).toBe(`oauthTokenExchange: ${problem}`)
    expect(server.forms).toEqual([])
    expect(exchange.request.headers.get('authorization')).toBeUndefined()
  })

  it.each([
    [400, 400],
    [404, 400],
    [429, 400],
    [401, 500],
    [403, 500],
    [302, 500],
    [500, 500],
    [503, 500],
  ])('answers a status %i of the endpoint with %i', async (status, expected) => {
    server.override = (response) => send(response, { status, body: { error: 'e' } })
    const exchange = bearer(await idToken('ann'))
    expect(await filter()(exchange)).toMatchObject({ status: expected })
    expect(exchange.errorDetail).toBe(`oauthTokenExchange: token endpoint answered with ${status}, error e`)
    expect(exchange.request.headers.get('authorization')).toBeUndefined()
  })

  it.each([200, 400, 401, 403, 500])(
    'asks for other clients after several got status %i without a token',
    async (status) => {
      const run = filter()
      server.override = (response) => send(response, { status, body: {} })
      for (let client = 0; client < 5; client++) await run(bearer(await idToken(`refused-${client}`)))
      expect(server.forms.length).toBe(5)
      server.override = undefined
      expect(await run(bearer(await idToken('ann')))).toBeUndefined()
    },
  )

  it('sends the token once for a token of the client that has ended, if the endpoint accepts it', async () => {
    server.override = (response) => send(response, { status: 200, body: { access_token: 'a', token_type: 'Bearer' } })
    const [run, ended] = [filter(), await idToken('ann', -60)]
    for (let i = 0; i < 4; i++) expect(await run(bearer(ended))).toBeUndefined()
    expect(server.forms.length).toBe(4)
  })

  it('answers with 400 in each worker if the endpoint refuses the token that one of them sent', async () => {
    const { all } = workers(3)
    const runs = all.map(({ store }) => filter({}, SECRETS, store))
    const responses = await Promise.all(runs.map(async (run) => run(bearer('none'))))
    expect(responses).toMatchObject(all.map(() => ({ status: 400 })))
    expect(server.forms.length).toBe(1)
  })

  it.each([
    ['no Bearer token', { access_token: 'a', token_type: 'N_A' }],
    ['another type than requested', { access_token: 'a', token_type: 'Bearer', issued_token_type: `${TYPE}jwt` }],
    ['no token', { token_type: 'Bearer' }],
  ])('answers with 500 for a response with %s', async (_, body) => {
    server.override = (response) => send(response, { status: 200, body })
    const run = filter({ requestedTokenType: 'AccessToken' })
    expect(await run(bearer(await idToken('ann')))).toMatchObject({ status: 500 })
  })

  it('accepts a response that does not name the requested type', async () => {
    server.override = (response) => send(response, { status: 200, body: { access_token: 'a', token_type: 'Bearer' } })
    expect(await filter({ requestedTokenType: 'IdToken' })(bearer(await idToken('ann')))).toBeUndefined()
  })

  it('answers with 500 if a secret or the service is missing, or a parameter is reserved', async () => {
    const subject = await idToken('ann')
    const exchange = bearer(subject)
    expect(await filter({}, new Map())(exchange)).toMatchObject({ status: 500 })
    expect(exchange.errorDetail).toBe('token endpoint: secret n/sts/clientSecret is missing')
    expect(await filter({ service: { backend: 'other' } })(bearer(subject))).toMatchObject({ status: 500 })
    const additionalParams = [{ name: 'client_id', expression: '"a"' }]
    expect(await filter({ additionalParams })(bearer(subject))).toMatchObject({ status: 500 })
    expect(server.forms).toEqual([])
  })

  it('keeps a token until the token of the client ends, and none if no token may be kept', async () => {
    const short = filter()
    const subject = await idToken('ann', 10)
    for (let i = 0; i < 2; i++) expect(await short(bearer(subject))).toBeUndefined()
    expect(server.forms.length).toBe(2)
    const none = filter({ cache: { entriesMax: 0 } })
    const other = await idToken('bob')
    for (let i = 0; i < 2; i++) expect(await none(bearer(other))).toBeUndefined()
    expect(server.forms.length).toBe(4)
  })

  it('keeps a token whose response gives no lifetime for the default one', async () => {
    server.override = (response) => send(response, { status: 200, body: { access_token: 'a', token_type: 'Bearer' } })
    const subject = await idToken('ann')
    for (const [defaultTtlMs, calls] of [
      [1000, 2],
      [300_000, 3],
    ] as const) {
      const run = filter({ cache: { defaultTtlMs } })
      for (let i = 0; i < 2; i++) expect(await run(bearer(subject))).toBeUndefined()
      expect(server.forms.length).toBe(calls)
    }
  })

  it('shows no secret and no token in details and responses of failures', async () => {
    const [subject, actor] = [await idToken('ann'), await idToken('agent')]
    server.override = (response) => send(response, { status: 400, body: { error: 'e', error_description: subject } })
    const exchange = bearer(subject, [['x-actor', actor]])
    const response = await filter({ actorToken: ACTOR })(exchange)
    const shown = `${exchange.errorDetail} ${JSON.stringify(response)}`
    for (const secret of ['sts-secret', subject, actor]) expect(shown).not.toContain(secret)
  })
})

describe('the cache', () => {
  it.each([
    [undefined, 8192],
    [100, 100],
  ])('with maxEntries %s keeps %i of 10,000 subjects, those that were used last', async (entriesMax, kept) => {
    let calls = 0
    const caller = {
      answerMs: 10_000,
      http: () => {
        calls++
        const body = JSON.stringify({ access_token: `at-${calls}`, token_type: 'Bearer', expires_in: 600 })
        return Promise.resolve(upstreamResponse([], Buffer.from(body)))
      },
    }
    const cache = entriesMax === undefined ? {} : { entriesMax }
    const run = filterOf({ ...POLICY, cache }, SECRETS, new WorkerTokenStore(), caller)
    const ask = async (index: number) => {
      const exchange = bearer(`subject-${index}`)
      expect(await run(exchange)).toBeUndefined()
      return exchange.request.headers.get('authorization')
    }
    for (let index = 0; index < 10_000; index++) await ask(index)
    expect(calls).toBe(10_000)
    for (let index = 10_000 - kept; index < 10_000; index++) expect(await ask(index)).toBe(`Bearer at-${index + 1}`)
    expect(calls).toBe(10_000)
    await ask(10_000 - kept - 1)
    expect(calls).toBe(10_001)
  })
})

describe('mayAct', () => {
  const run = (required: boolean) =>
    filter({ actorToken: { ...ACTOR, ...(required && { mayAct: 'Required' as const }) } })
  const ask = async (permitted: object | undefined, name = 'agent') =>
    bearer(await idToken('ann', 3600, permitted === undefined ? {} : { may_act: permitted }), [
      ['x-actor', await idToken(name)],
    ])

  it('lets the actor act that the subject token permits', async () => {
    expect(await run(true)(await ask({ sub: 'agent' }))).toBeUndefined()
    expect(formOf(0)['actor_token_type']).toBe(`${TYPE}jwt`)
  })

  it.each([[undefined], [{}], [{ sub: 'other' }]])(
    'answers with 403 for may_act %j, and calls no server',
    async (permitted) => {
      expect(await run(true)(await ask(permitted))).toMatchObject({ status: 403 })
      expect(server.forms).toEqual([])
      expect(await run(false)(await ask(permitted))).toBeUndefined()
    },
  )

  it('is checked also for a token that is kept', async () => {
    const filtered = run(true)
    const permitting = await idToken('ann', 3600, { may_act: { sub: 'agent' } })
    const [agent, other] = [await idToken('agent'), await idToken('other')]
    expect(await filtered(bearer(permitting, [['x-actor', agent]]))).toBeUndefined()
    expect(await filtered(bearer(permitting, [['x-actor', other]]))).toMatchObject({ status: 403 })
  })
})
