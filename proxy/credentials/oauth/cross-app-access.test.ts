// Both hops of cross-app access against an identity provider and an application, which oauth4webapi checks first.
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  genericTokenEndpointRequest,
  processGenericTokenEndpointResponse,
} from 'oauth4webapi'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formCaller } from '../../backend/form-caller.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import {
  APPLICATION,
  applicationServer,
  type Authority,
  identityProvider,
  idToken,
  send,
} from './authorities.testing.ts'
import { compileClientAuth } from './client-auth.ts'
import { type CrossAppSettings, crossAppSource } from './cross-app-access.ts'

let provider: Authority
let application: Authority
let services: TestService[]

beforeEach(async () => {
  provider = await identityProvider()
  application = await applicationServer()
  services = [provider, application].map(({ port }) => testService(port, { timeoutMs: 500 }))
})
afterEach(() => {
  for (const one of [provider, application, ...services]) one.close()
})

const SECRETS = new Map([
  ['idp', 'idp-secret'],
  ['app', 'app-secret'],
])

function client(clientId: string, method: 'ClientSecretBasic' | 'ClientSecretPost', secret: string) {
  const compiled = compileClientAuth({ clientId, method, secretRef: { secret } }, (ref) => SECRETS.get(ref.secret))
  if ('unusable' in compiled) throw new Error(compiled.unusable)
  return compiled
}

function settings(more: Partial<CrossAppSettings> = {}): CrossAppSettings {
  const [idp, app] = services.map(({ caller }) => formCaller(caller))
  return {
    owner: 'ns/policy',
    identityProvider: {
      name: 'identity provider',
      caller: idp,
      path: '/token',
      client: client('gateway', 'ClientSecretBasic', 'idp'),
    },
    resourceAuthorizationServer: {
      name: 'resource authorization server',
      caller: app,
      path: '/token',
      client: client('gateway-at-app', 'ClientSecretPost', 'app'),
    },
    audience: APPLICATION,
    resources: [],
    scopes: [],
    defaultTtlMs: 300_000,
    entriesMax: undefined,
    fingerprint: 'f',
    ...more,
  }
}

const fetched = async (subject: string, more?: Partial<CrossAppSettings>) =>
  crossAppSource(exchangeOf(), settings(more), subject).fetch(new AbortController().signal)

it('the emulated authorities serve oauth4webapi', async () => {
  const at = (port: number) => ({ issuer: 'https://as.test', token_endpoint: `http://127.0.0.1:${port}/token` })
  const insecure = { [allowInsecureRequests]: true }
  const first = await genericTokenEndpointRequest(
    at(provider.port),
    { client_id: 'gateway' },
    ClientSecretBasic('idp-secret'),
    'urn:ietf:params:oauth:grant-type:token-exchange',
    {
      subject_token: await idToken('ann'),
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      audience: APPLICATION,
    },
    insecure,
  )
  const { access_token: assertion } = await processGenericTokenEndpointResponse(
    at(provider.port),
    { client_id: 'gateway' },
    first,
    { recognizedTokenTypes: { n_a: () => undefined } },
  )
  const app = { client_id: 'gateway-at-app' }
  const second = await genericTokenEndpointRequest(
    at(application.port),
    app,
    ClientSecretPost('app-secret'),
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    { assertion },
    insecure,
  )
  const issued = await processGenericTokenEndpointResponse(at(application.port), app, second)
  expect(issued.access_token).toBe('at.ann.none.1')
})

describe('crossAppSource', () => {
  it('gets the access token through both hops, with scopes and resources', async () => {
    const before = Date.now()
    const { value, expiresMs } = await fetched(await idToken('ann'), {
      scopes: ['read', 'write'],
      resources: ['https://api.app.test/a', 'https://api.app.test/b'],
    })
    expect(value).toBe('at.ann.read+write.1')
    expect(expiresMs - before).toBeGreaterThanOrEqual(600_000)
    expect(expiresMs - before).toBeLessThan(605_000)
    const [form] = provider.forms
    expect(form?.get('scope')).toBe('read write')
    expect(form?.getAll('resource')).toEqual(['https://api.app.test/a', 'https://api.app.test/b'])
    expect([...(application.forms[0]?.keys() ?? [])].sort()).toEqual(
      ['assertion', 'client_id', 'client_secret', 'grant_type', 'scope'].sort(),
    )
  })

  it('ends with the ID token of the client if that ends first', async () => {
    const { expiresMs } = await fetched(await idToken('ann', 60))
    expect(Math.abs(expiresMs - Date.now() - 60_000)).toBeLessThan(3000)
  })

  it('uses the default lifetime if the response gives none', async () => {
    application.override = (response) =>
      send(response, { status: 200, body: { access_token: 'a', token_type: 'Bearer' } })
    const { expiresMs } = await fetched(await idToken('ann'), { defaultTtlMs: 120_000 })
    expect(Math.abs(expiresMs - Date.now() - 120_000)).toBeLessThan(3000)
  })

  it('has another key for each subject and each policy, without the subject in it', () => {
    const key = (subject: string, fingerprint: string) =>
      crossAppSource(exchangeOf(), settings({ fingerprint }), subject).key
    expect(new Set([key('a', 'f'), key('b', 'f'), key('a', 'g'), key('a', 'f')]).size).toBe(3)
    expect(key('planted-secret', 'f')).toMatch(/^[\da-f]{64}$/)
  })

  it('reports that the identity provider refused the subject', async () => {
    const failure = fetched('not a token')
    await expect(failure).rejects.toMatchObject({
      reason: 'SubjectRejected',
      message: 'identity provider answered with 400, error invalid_grant',
    })
    expect(application.forms).toEqual([])
  })

  it('never blames the client for what the application refuses', async () => {
    const failure = fetched(await idToken('ann'), { audience: 'https://other.test' })
    await expect(failure).rejects.toMatchObject({
      reason: 'Rejected',
      message: 'resource authorization server answered with 400, error invalid_grant',
    })
  })

  const assertion = {
    access_token: 'x',
    issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    token_type: 'N_A',
  }
  it.each([
    ['401', 401, {}, 'answered with 401'],
    ['403', 403, {}, 'answered with 403'],
    ['500', 500, {}, 'answered with 500'],
    ['503', 503, {}, 'answered with 503'],
    ['another issued type', 200, { ...assertion, issued_token_type: 'urn:other' }, 'issued_token_type of the response'],
    ['no issued type', 200, { ...assertion, issued_token_type: undefined }, 'issued_token_type of the response'],
    ['an access token', 200, { ...assertion, token_type: 'Bearer' }, 'token_type of the response is not N_A'],
    ['no token', 200, { ...assertion, access_token: '' }, 'no usable access_token'],
  ])('stops after the first hop for %s', async (_, status, body, message) => {
    provider.override = (response) => send(response, { status, body })
    await expect(fetched(await idToken('ann'))).rejects.toMatchObject({
      reason: status === 503 ? 'Unavailable' : 'Rejected',
      message: expect.stringContaining(message),
    })
    expect(application.forms).toEqual([])
  })

  it('fails if an authority does not answer in time', async () => {
    application.override = () => undefined
    await expect(fetched(await idToken('ann'))).rejects.toMatchObject({ reason: 'Unavailable' })
  })

  it('may take as long as the slower authority', () => {
    const { identityProvider, resourceAuthorizationServer } = settings()
    const slow = { http: () => Promise.reject(new Error('not called')), answerMs: 30_000 }
    const fetchMs = (more: Partial<CrossAppSettings>) => crossAppSource(exchangeOf(), settings(more), 'token').fetchMs
    expect(fetchMs({})).toBe(500)
    expect(fetchMs({ identityProvider: { ...identityProvider, caller: slow } })).toBe(30_000)
    expect(fetchMs({ resourceAuthorizationServer: { ...resourceAuthorizationServer, caller: slow } })).toBe(30_000)
  })

  it('contains no secret, token or description in its errors', async () => {
    const subject = await idToken('ann')
    application.override = (response) =>
      send(response, { status: 400, body: { error: 'invalid_grant', error_description: `planted ${subject}` } })
    const error = await fetched(subject).catch((reason: unknown) => reason)
    const text = `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? error.stack : ''}`
    for (const secret of ['idp-secret', 'app-secret', subject, 'planted']) expect(text).not.toContain(secret)
  })
})
