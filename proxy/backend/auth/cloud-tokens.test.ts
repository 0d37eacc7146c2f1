// cloudB and cloudC in a policy: which token a backend gets, in place of what the client sent, and what is rejected.
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BackendAuth } from '#api/ir/types.gen.ts'
import * as azure from '../../credentials/cloud-b/endpoints.testing.ts'
import * as google from '../../credentials/cloud-c/endpoints.testing.ts'
import { CloudEndpoints } from '../../credentials/cloud-endpoints.testing.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { compileBackendAuth } from '../auth.ts'
import type { AuthEnvironment } from './kind.ts'

const CLOUD_B: BackendAuth = {
  cloudB: {
    secretRef: {
      clientID: { secret: 'n/azure/clientID' },
      tenantID: { secret: 'n/azure/tenantID' },
      clientSecret: { secret: 'n/azure/clientSecret' },
    },
  },
}
const CREDENTIAL = { secret: 'n/google/credentials.json' }

let endpoints: CloudEndpoints
let secrets: Map<string, string>

beforeEach(async () => {
  endpoints = new CloudEndpoints()
  await endpoints.start()
  vi.stubGlobal('fetch', endpoints.send)
  secrets = new Map([
    ['n/azure/clientID', `${azure.CLIENT}\n`],
    ['n/azure/tenantID', azure.TENANT],
    ['n/azure/clientSecret', 'planted-client-secret\n'],
    [CREDENTIAL.secret, JSON.stringify(google.USER)],
  ])
})

afterEach(async () => {
  vi.unstubAllGlobals()
  await endpoints.stop()
})

const tokensOf = () => new WorkerTokenStore()

/** What the backend gets: `authorization`, or status and text for the log. */
async function sent(
  auth: BackendAuth,
  { backendHost, tokens = tokensOf() }: { backendHost?: string; tokens?: WorkerTokenStore } = {},
): Promise<string> {
  // What these kinds do not use is left out.
  const environment = {
    tokens,
    backendHost,
    secret: ({ secret }: { secret: string }) => secrets.get(secret),
  } as unknown as AuthEnvironment
  const policy = compileBackendAuth(auth, environment)
  const exchange = exchangeOf({ headers: [['authorization', 'Bearer of-client']] })
  const verdict = await policy.request?.(exchange)
  expect(inspect(verdict, { depth: 10 })).not.toMatch(/planted/)
  expect(exchange.errorDetail ?? '').not.toMatch(/planted/)
  if (verdict !== undefined) return `${verdict.status} ${exchange.errorDetail ?? ''}`
  expect(exchange.request.secretFields).toContain('authorization')
  return exchange.request.headers.get('authorization') ?? ''
}

const scopes = (): unknown[] =>
  endpoints.seen
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => new URLSearchParams(body).get('scope')?.split(' ')[0])

describe('cloudB', () => {
  it('sends the token in place of what the client sent, and fetches it once', async () => {
    let count = 0
    azure.tokenEndpoint(endpoints, { secret: 'planted-client-secret', answer: () => azure.granted(`t${++count}`) })
    const tokens = tokensOf()
    const all = await Promise.all([1, 2, 3].map(() => sent(CLOUD_B, { tokens })))
    expect(all).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1'])
    expect(await sent(CLOUD_B, { tokens })).toBe('Bearer t1')
    expect(count).toBe(1)
  })

  it('chooses the scope by the host of the backend', async () => {
    azure.tokenEndpoint(endpoints, { secret: 'planted-client-secret', answer: () => azure.granted('t') })
    const tokens = tokensOf()
    for (const backendHost of ['r.openai.azure.com', 'r.services.ai.azure.com']) {
      await sent(CLOUD_B, { tokens, backendHost })
    }
    await sent(CLOUD_B, { tokens })
    expect(scopes()).toEqual(['https://cognitiveservices.azure.com/.default', 'https://ai.azure.com/.default'])
  })

  it('uses a rotated Secret at once, although a token for the previous one is kept', async () => {
    const tokens = tokensOf()
    azure.tokenEndpoint(endpoints, { secret: 'planted-client-secret', answer: () => azure.granted('t1') })
    expect(await sent(CLOUD_B, { tokens })).toBe('Bearer t1')
    azure.tokenEndpoint(endpoints, { secret: 'planted-rotated', answer: () => azure.granted('t2') })
    secrets.set('n/azure/clientSecret', 'planted-rotated')
    expect(await sent(CLOUD_B, { tokens })).toBe('Bearer t2')
  })

  it('rejects with the code of the endpoint in the log, and does not ask again at once', async () => {
    azure.tokenEndpoint(endpoints, { secret: 'another', answer: () => azure.granted('t1') })
    const tokens = tokensOf()
    const rejected = `500 cloudB: ${azure.AUTHORITY} answered 401 (invalid_client, AADSTS7000215)`
    expect(await sent(CLOUD_B, { tokens })).toBe(rejected)
    expect(await sent(CLOUD_B, { tokens })).toBe(rejected)
    expect(scopes()).toHaveLength(1)
  })

  it('names the entries of the Secret that are missing', async () => {
    secrets.delete('n/azure/tenantID')
    secrets.set('n/azure/clientSecret', ' \n')
    expect(await sent(CLOUD_B)).toBe(
      '500 secret n/azure/tenantID is missing or empty, secret n/azure/clientSecret is missing or empty',
    )
    expect(endpoints.seen).toEqual([])
  })
})

describe('cloudC', () => {
  it('sends an access token for the credential of a Secret, and uses a rotated one at once', async () => {
    google.refreshEndpoint(endpoints, () => google.granted('t1'))
    const tokens = tokensOf()
    const auth: BackendAuth = { cloudC: { type: 'AccessToken', secretRef: CREDENTIAL } }
    expect(await sent(auth, { tokens })).toBe('Bearer t1')
    secrets.set(CREDENTIAL.secret, JSON.stringify({ ...google.USER, refresh_token: 'planted-other' }))
    expect(await sent(auth, { tokens })).toBe('500 cloudC: oauth2.googleapis.com answered 400 (invalid_grant)')
  })

  it('sends ID tokens for the audience, or for the host of the backend, one for each', async () => {
    google.refreshEndpoint(endpoints, () => google.granted('t1'))
    const tokens = tokensOf()
    const auth: BackendAuth = { cloudC: { type: 'IdToken', secretRef: CREDENTIAL } }
    const audience = async (one: BackendAuth, backendHost: string): Promise<unknown> => {
      const token = await sent(one, { tokens, backendHost })
      const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
      return typeof claims === 'object' && claims !== null && 'aud' in claims ? claims.aud : undefined
    }
    expect(await audience(auth, 'a.run.app')).toBe('https://a.run.app')
    expect(await audience(auth, 'b.run.app')).toBe('https://b.run.app')
    const configured: BackendAuth = { cloudC: { ...auth.cloudC, type: 'IdToken', audience: 'https://c' } }
    expect(await audience(configured, 'a.run.app')).toBe('https://c')
    expect(await audience(configured, 'b.run.app')).toBe('https://c')
    expect(endpoints.seen).toHaveLength(3)
  })

  it('rejects ID tokens for a backend whose host each request names', async () => {
    expect(await sent({ cloudC: { type: 'IdToken', secretRef: CREDENTIAL } })).toBe(
      '500 cloudC: the backend has no host name for the audience of ID tokens; set audience',
    )
  })

  it.each([
    ['is missing', undefined, 'is missing or empty'],
    ['is empty', ' ', 'is missing or empty'],
    ['is not JSON', 'planted', ': the credential is not valid JSON'],
    [
      'names another host',
      JSON.stringify({ ...google.USER, token_uri: 'http://169.254.169.254/planted' }),
      ': the credential has a token_uri that is not an https URL of a token endpoint of the vendor',
    ],
  ])('sends nothing if the credential %s', async (_, value, problem) => {
    if (value === undefined) secrets.clear()
    else secrets.set(CREDENTIAL.secret, value)
    const rejected = await sent({ cloudC: { type: 'AccessToken', secretRef: CREDENTIAL } })
    expect(rejected).toBe(`500 secret ${CREDENTIAL.secret}${problem.startsWith(':') ? '' : ' '}${problem}`)
    expect(endpoints.seen).toEqual([])
  })
})
