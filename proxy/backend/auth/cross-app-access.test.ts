// The filter of cross-app access with a real token store and emulated authorities.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CrossAppAccess } from '#api/ir/types.gen.ts'
import {
  applicationServer,
  type Authority,
  CROSS_APP_SECRETS,
  crossAppAccess,
  identityProvider,
  idToken,
  send,
} from '../../credentials/oauth/authorities.testing.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { workers } from '../../credentials/workers.testing.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf, expression } from '../../policy/exchange.testing.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import { compileBackendAuth } from '../auth.ts'
import type { AuthEnvironment } from './kind.ts'

let provider: Authority
let application: Authority
let services: Map<string, TestService>

beforeEach(async () => {
  provider = await identityProvider()
  application = await applicationServer()
  services = new Map([
    ['idp', testService(provider.port)],
    ['app', testService(application.port)],
  ])
})
afterEach(() => {
  for (const one of [provider, application, ...services.values()]) one.close()
})

const POLICY = crossAppAccess({ provider: 'idp', application: 'app' })
const SECRETS = new Map(Object.entries(CROSS_APP_SECRETS))

function filter(policy: CrossAppAccess = POLICY, secrets = SECRETS, tokens = new WorkerTokenStore()) {
  // What this kind does not use is left out.
  const environment = {
    tokens,
    expression,
    secret: ({ secret }: { secret: string }) => secrets.get(secret),
    service: ({ backend }: { backend?: string }) => services.get(backend ?? '')?.caller,
  } as unknown as AuthEnvironment
  const { request } = compileBackendAuth({ crossAppAccess: policy }, environment)
  return async (exchange: Exchange) => request?.(exchange)
}

const bearer = (token: string) => exchangeOf({ headers: [['authorization', `Bearer ${token}`]] })

describe('crossAppAccess', () => {
  it('replaces the ID token by the access token, and asks the authorities once for a subject', async () => {
    const run = filter()
    const [ann, bob] = [await idToken('ann'), await idToken('bob')]
    const tokens: unknown[] = []
    for (const subject of [ann, ann, bob]) {
      const exchange = bearer(subject)
      expect(await run(exchange)).toBeUndefined()
      tokens.push(exchange.request.headers.getAll('authorization'))
    }
    expect(tokens).toEqual([['Bearer at.ann.none.1'], ['Bearer at.ann.none.1'], ['Bearer at.bob.none.2']])
    expect(provider.forms.length).toBe(2)
  })

  it('removes the ID token from its own place', async () => {
    const run = filter({ ...POLICY, subjectToken: { source: { header: { name: 'x-id-token' } } } })
    const exchange = exchangeOf({ headers: [['x-id-token', await idToken('ann')]] })
    expect(await run(exchange)).toBeUndefined()
    expect(exchange.request.headers.get('x-id-token')).toBeUndefined()
    expect(exchange.request.headers.get('authorization')).toBe('Bearer at.ann.none.1')
  })

  it('answers with 400 without a token, and calls no server', async () => {
    expect(await filter()(exchangeOf())).toMatchObject({ status: 400 })
    expect(provider.forms).toEqual([])
  })

  it('answers with 400 in each worker if the identity provider refuses the token that one of them sent', async () => {
    const { all } = workers(3)
    const runs = all.map(({ store }) => filter(POLICY, SECRETS, store))
    const responses = await Promise.all(runs.map(async (run) => run(bearer('none'))))
    expect(responses).toMatchObject(all.map(() => ({ status: 400 })))
    expect(provider.forms.length).toBe(1)
  })

  it('answers with 400 if the identity provider refuses the token, with 500 if the application does', async () => {
    expect(await filter()(bearer('none'))).toMatchObject({ status: 400 })
    const other = bearer(await idToken('ann'))
    expect(await filter({ ...POLICY, audience: 'https://other.test' })(other)).toMatchObject({ status: 500 })
    expect(other.errorDetail).toContain('resource authorization server answered with 400, error invalid_grant')
  })

  it.each([401, 403, 500])('answers with 500 for status %i of the identity provider', async (status) => {
    provider.override = (response) => send(response, { status, body: {} })
    expect(await filter()(bearer(await idToken('ann')))).toMatchObject({ status: 500 })
  })

  it('answers with 500 if a secret or a service is missing', async () => {
    const exchange = bearer(await idToken('ann'))
    expect(await filter(POLICY, new Map())(exchange)).toMatchObject({ status: 500 })
    expect(exchange.errorDetail).toBe('identity provider: secret n/idp/clientSecret is missing')
    services.delete('app')
    expect(await filter()(bearer(await idToken('ann')))).toMatchObject({ status: 500 })
  })

  it('asks each time if no token may be kept', async () => {
    const run = filter({ ...POLICY, cache: { entriesMax: 0 } })
    const subject = await idToken('ann')
    for (let i = 0; i < 2; i++) expect(await run(bearer(subject))).toBeUndefined()
    expect(provider.forms.length).toBe(2)
  })

  it('shows no secret in details and responses of failures', async () => {
    const subject = await idToken('ann')
    application.override = (response) =>
      send(response, { status: 400, body: { error: 'e', error_description: subject } })
    const exchange = bearer(subject)
    const response = await filter()(exchange)
    const shown = `${exchange.errorDetail} ${JSON.stringify(response)}`
    for (const secret of ['idp-secret', 'app-secret', subject]) expect(shown).not.toContain(secret)
  })
})
