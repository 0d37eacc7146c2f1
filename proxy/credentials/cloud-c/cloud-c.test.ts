import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Compute, gaxios, IdentityPoolClient, Impersonated, JWT, UserRefreshClient } from 'google-auth-library'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CloudEndpoints } from '../cloud-endpoints.testing.ts'
import { TokenError, type TokenSource } from '../token.ts'
import { audienceFor, cloudCSource, type CloudCSource } from './cloud-c.ts'
import * as credentials from '#api/credentials/cloud-c.ts'
import {
  assertionEndpoint,
  EMAIL,
  exchangeEndpoint,
  granted,
  idTokenOf,
  impersonation,
  KEY,
  metadataServer,
  refreshEndpoint,
  SCOPE,
  USER,
} from './endpoints.testing.ts'

const ACCOUNT = {
  type: 'service_account',
  project_id: 'shop',
  private_key_id: 'k1',
  private_key: KEY,
  client_email: EMAIL,
  token_uri: 'https://oauth2.googleapis.com/token',
}
const IMPERSONATION = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${EMAIL}:generateAccessToken`
const IMPERSONATED = {
  type: 'impersonated_service_account',
  service_account_impersonation_url: IMPERSONATION,
  source_credentials: USER,
}
const SUBJECT = 'planted.subject.token'
const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q'

let endpoints: CloudEndpoints
let folder: string

beforeEach(async () => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:GOOGLE|GCE|GCLOUD|CLOUDSDK)_/.test(name)) vi.stubEnv(name, undefined)
  }
  folder = await mkdtemp(join(tmpdir(), 'gw-cloud-c-'))
  vi.stubEnv('HOME', folder)
  vi.stubEnv('METADATA_SERVER_DETECTION', 'none')
  endpoints = new CloudEndpoints()
  await endpoints.start()
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await endpoints.stop()
  await rm(folder, { recursive: true })
})

function source(credential: object | undefined, options: Partial<CloudCSource> = {}): TokenSource<string> {
  return cloudCSource({
    type: 'AccessToken',
    owner: 'shop/models',
    send: endpoints.send,
    ...(credential !== undefined && { credential: JSON.stringify(credential) }),
    ...options,
  })
}

const ID_TOKEN = { type: 'IdToken', audience: 'https://backend.example' } as const

function live(): AbortSignal {
  return new AbortController().signal
}

async function failure(one: TokenSource<string>): Promise<TokenError> {
  const error = await one.fetch(live()).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof TokenError)) throw new Error(`no TokenError: ${inspect(error)}`)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/planted|PRIVATE KEY/)
  return error
}

/** A transport of the vendor's own, led to the endpoints. */
function transporter(): InstanceType<typeof gaxios.Gaxios> {
  return new gaxios.Gaxios({
    fetchImplementation: (input, init) => endpoints.send(input instanceof Request ? input.url : input, init),
  })
}

async function external(): Promise<object> {
  const file = join(folder, 'token')
  await writeFile(file, `${SUBJECT}\n`)
  return {
    type: 'external_account',
    audience: AUDIENCE,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file },
  }
}

/** Tests cannot write below /var/run. */
function admitFolder(): void {
  vi.spyOn(credentials.TOKEN_FOLDERS, 'some').mockImplementation(() => true)
}

function audienceOf(token: string): unknown {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return typeof claims === 'object' && claims !== null && 'aud' in claims ? claims.aud : undefined
}

describe('the emulated endpoints, with the clients of the vendor alone', () => {
  it('give them an access token', async () => {
    const options = { transporter: transporter() }
    assertionEndpoint(endpoints, () => granted('t1'))
    const account = new JWT({ ...options, email: EMAIL, key: KEY, scopes: [SCOPE] })
    expect((await account.getAccessToken()).token).toBe('t1')
    expect(audienceOf(await account.fetchIdToken('https://a'))).toBe('https://a')

    refreshEndpoint(endpoints, () => granted('t2'))
    const user = new UserRefreshClient({
      ...options,
      clientId: 'client-1',
      clientSecret: 'planted-secret',
      refreshToken: 'planted-refresh',
    })
    expect((await user.getAccessToken()).token).toBe('t2')

    impersonation(endpoints, { source: 't2', token: 't3' })
    vi.spyOn(console, 'warn').mockReturnValue()
    const other = new Impersonated({ sourceClient: user, targetPrincipal: EMAIL, targetScopes: [SCOPE] })
    expect((await other.getAccessToken()).token).toBe('t3')
    expect(audienceOf(await other.fetchIdToken('https://b'))).toBe('https://b')
  })

  it('exchange the token of a workload', async () => {
    exchangeEndpoint(endpoints, SUBJECT, () => granted('t4'))
    const file = join(folder, 'token')
    await writeFile(file, SUBJECT)
    const client = new IdentityPoolClient({
      audience: AUDIENCE,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://${endpoints.authority}/v1/token`,
      credential_source: { file },
    })
    expect((await client.getAccessToken()).token).toBe('t4')
  })

  it('give them tokens of the metadata server', async () => {
    vi.stubEnv('GCE_METADATA_HOST', endpoints.authority)
    metadataServer(endpoints, () => granted('t5'))
    const client = new Compute({ scopes: [SCOPE] })
    expect((await client.getAccessToken()).token).toBe('t5')
    expect(audienceOf(await client.fetchIdToken('https://c'))).toBe('https://c')
  })
})

describe('access tokens', () => {
  it('of a service account, with their expiry, a new one each time', async () => {
    let count = 0
    assertionEndpoint(endpoints, () => granted(`t${++count}`, 600))
    const one = source(ACCOUNT)
    const before = Date.now()
    const { value, expiresMs } = await one.fetch(live())
    expect(value).toBe('t1')
    expect(expiresMs).toBeGreaterThan(before + 590_000)
    expect(expiresMs).toBeLessThan(Date.now() + 601_000)
    expect((await one.fetch(live())).value).toBe('t2')
  })

  it('of a user', async () => {
    refreshEndpoint(endpoints, () => granted('t1'))
    expect((await source(USER).fetch(live())).value).toBe('t1')
  })

  it.each([USER, ACCOUNT])('of an account that $type may use', async (from) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    if (from === USER) refreshEndpoint(endpoints, () => granted('source'))
    else assertionEndpoint(endpoints, () => granted('source'))
    impersonation(endpoints, { source: 'source', token: 't1', life: 900 })
    const { value, expiresMs } = await source({ ...IMPERSONATED, source_credentials: from }).fetch(live())
    expect(value).toBe('t1')
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 900_000)
    expect(warn).not.toHaveBeenCalled()
  })

  it('of a workload of another platform, and of an account that it may use', async () => {
    admitFolder()
    exchangeEndpoint(endpoints, SUBJECT, () => granted('source'))
    const one = source(await external())
    expect((await one.fetch(live())).value).toBe('source')
    impersonation(endpoints, { source: 'source', token: 't1' })
    const other = { ...(await external()), service_account_impersonation_url: IMPERSONATION }
    expect((await source(other).fetch(live())).value).toBe('t1')
    // Rotated by the platform.
    await writeFile(join(folder, 'token'), 'rotated')
    exchangeEndpoint(endpoints, 'rotated', () => granted('t2'))
    expect((await one.fetch(live())).value).toBe('t2')
  })

  it('of a workload whose token is in a field of a file', async () => {
    admitFolder()
    exchangeEndpoint(endpoints, SUBJECT, () => granted('t1'))
    const json = await external()
    await writeFile(join(folder, 'token'), JSON.stringify({ inner: SUBJECT }))
    const inner = (name: string): object => ({
      ...json,
      credential_source: { file: join(folder, 'token'), format: { type: 'json', subject_token_field_name: name } },
    })
    expect((await source(inner('inner')).fetch(live())).value).toBe('t1')
    expect((await failure(source(inner('other')))).message).toBe('credential_source.file has no such field')
    await symlink('/etc/hostname', join(folder, 'link'))
    const link = { ...json, credential_source: { file: join(folder, 'link') } }
    expect((await failure(source(link))).message).toMatch('leads out of its folder')
    const missing = { ...json, credential_source: { file: join(folder, 'missing') } }
    expect((await failure(source(missing))).message).toBe('credential_source.file cannot be read')
  })

  it('of the file that GOOGLE_APPLICATION_CREDENTIALS names', async () => {
    const file = join(folder, 'adc.json')
    await writeFile(file, JSON.stringify(ACCOUNT))
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
    assertionEndpoint(endpoints, () => granted('t1'))
    expect((await source(undefined).fetch(live())).value).toBe('t1')
  })

  it('of the metadata server', async () => {
    vi.stubEnv('METADATA_SERVER_DETECTION', undefined)
    vi.stubEnv('GCE_METADATA_HOST', endpoints.authority)
    metadataServer(endpoints, () => granted('t1', 300))
    const { value, expiresMs } = await source(undefined).fetch(live())
    expect(value).toBe('t1')
    expect(expiresMs).toBeLessThan(Date.now() + 301_000)
    expect(endpoints.seen.at(-1)?.url.searchParams.get('scopes')).toBe(SCOPE)
  })

  it('fail without any credential', async () => {
    expect((await failure(source(undefined))).message).toBe('the credential cannot be used (Error)')
  })

  it('find a metadata server that has come back', async () => {
    vi.stubEnv('METADATA_SERVER_DETECTION', 'ping-only')
    vi.stubEnv('GCE_METADATA_HOST', endpoints.authority)
    const one = source(undefined)
    await failure(one)
    metadataServer(endpoints, () => granted('t1'))
    expect((await one.fetch(live())).value).toBe('t1')
  })

  it.each([
    ['has expired already', () => granted('t1', -1)],
    ['has no expiry', () => granted('t1', null)],
    ['is empty', () => granted('')],
    ['is not text', () => ({ body: { access_token: 7, expires_in: 3600 } })],
    ['is not in the answer', () => ({ body: '<html>' })],
  ])('refuse a token that %s', async (_, answer) => {
    refreshEndpoint(endpoints, answer)
    expect((await failure(source(USER))).reason).toBe('Unavailable')
  })

  it('keep no token for more than a day, whatever the endpoint claims', async () => {
    refreshEndpoint(endpoints, () => granted('t1', 1e9))
    expect((await source(USER).fetch(live())).expiresMs).toBeLessThanOrEqual(Date.now() + 24 * 3600_000)
  })

  it('name the code of the endpoint, and no text of it', async () => {
    refreshEndpoint(endpoints, () => granted('t1'))
    expect(await failure(source({ ...USER, refresh_token: 'planted-old' }))).toMatchObject({
      reason: 'Rejected',
      message: 'oauth2.googleapis.com answered 400 (invalid_grant)',
    })
    impersonation(endpoints, { source: 'another', token: 't1' })
    expect(await failure(source(IMPERSONATED))).toMatchObject({
      reason: 'Rejected',
      message: 'iamcredentials.googleapis.com answered 403 (PERMISSION_DENIED)',
    })
  })

  it('end when the caller stops waiting for an endpoint that never answers', async () => {
    const stop = new AbortController()
    refreshEndpoint(endpoints, () => {
      stop.abort()
      return undefined
    })
    expect(await source(USER).fetch(stop.signal).catch(String)).toMatch('no credential within 5 s')
  })

  it('follow no redirect', async () => {
    refreshEndpoint(endpoints, () => ({ status: 307, headers: { location: '/elsewhere' }, body: '' }))
    await failure(source(USER))
    expect(endpoints.seen.every(({ url }) => url.pathname === '/token')).toBe(true)
  })
})

describe('ID tokens', () => {
  it.each([USER, ACCOUNT, IMPERSONATED])('of $type for the audience', async (credential) => {
    if (credential === ACCOUNT) assertionEndpoint(endpoints, () => granted('t1'))
    else refreshEndpoint(endpoints, () => granted('source'))
    impersonation(endpoints, { source: 'source', token: 't1' })
    const { value, expiresMs } = await source(credential, ID_TOKEN).fetch(live())
    expect(audienceOf(value)).toBe('https://backend.example')
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 3600_000)
  })

  it('of the metadata server, whatever the audience contains', async () => {
    vi.stubEnv('METADATA_SERVER_DETECTION', undefined)
    vi.stubEnv('GCE_METADATA_HOST', endpoints.authority)
    metadataServer(endpoints, () => granted('t1'))
    const audience = 'https://backend.example/a?b&audience=other#c d'
    const { value } = await source(undefined, { ...ID_TOKEN, audience }).fetch(live())
    expect(audienceOf(value)).toBe(audience)
  })

  it('refuse an external account, also as the source of another', async () => {
    admitFolder()
    const message = 'external_account gives no ID tokens: use AccessToken'
    expect((await failure(source(await external(), ID_TOKEN))).message).toBe(message)
    const other = { ...IMPERSONATED, source_credentials: await external() }
    expect((await failure(source(other, ID_TOKEN))).message).toBe(message)
    expect(endpoints.seen).toEqual([])
  })

  it.each([
    ['has ended', idTokenOf('https://backend.example', -10)],
    ['is not a JWT', 'planted'],
    ['has no claims', 'a.e30.b'],
  ])('refuse one that %s', async (_, token) => {
    refreshEndpoint(endpoints, () => granted('t1'))
    endpoints.on('oauth2.googleapis.com/token', () => ({ body: { id_token: token } }))
    expect((await failure(source(USER, ID_TOKEN))).reason).toBe('Unavailable')
  })

  it('have a key for each audience, type and content of the Secret', () => {
    const keys = [
      source(USER),
      source(USER, ID_TOKEN),
      source(USER, { ...ID_TOKEN, audience: 'https://other.example' }),
      source({ ...USER, refresh_token: 'rotated' }),
      source(undefined),
    ].map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(source(USER).key).toBe(keys[0])
    expect(audienceFor('backend.example')).toBe('https://backend.example')
  })
})
