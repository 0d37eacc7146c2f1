import { constants, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { ClientSecretCredential, ManagedIdentityCredential, WorkloadIdentityCredential } from '@azure/identity'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { CloudEndpoints } from '../cloud-endpoints.testing.ts'
import { CloudFetch } from '../cloud-fetch.ts'
import { TokenError, type Token, type TokenSource } from '../token.ts'
import { type CloudB, cloudBSource, scopeFor } from './cloud-b.ts'
import { admitsCloudB } from './endpoints.ts'
import {
  AUTHORITY,
  CLIENT,
  granted,
  managed,
  METADATA,
  METADATA_PATH,
  metadataService,
  TENANT,
  tokenEndpoint,
} from './endpoints.testing.ts'
import { httpClient } from './http-client.ts'

const SECRET = 'planted-client-secret~1'
const ASSERTION = 'planted.federated.token'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
const CLIENT_SECRET: CloudB = { application: { clientId: CLIENT, tenantId: TENANT, proof: { secret: SECRET } } }

let endpoints: CloudEndpoints
let folder: string

beforeEach(async () => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:AZURE|IDENTITY|MSI|IMDS)_/.test(name)) vi.stubEnv(name, undefined)
  }
  // No developer tools.
  vi.stubEnv('PATH', '/nonexistent')
  endpoints = new CloudEndpoints()
  await endpoints.start()
  folder = await mkdtemp(join(tmpdir(), 'gw-cloud-b-'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await endpoints.stop()
  await rm(folder, { recursive: true })
})

function source(credential: CloudB, scope = SCOPE): TokenSource<string> {
  return cloudBSource({ credential, scope, owner: 'shop/models', send: endpoints.send })
}

function live(): AbortSignal {
  return new AbortController().signal
}

async function fetched(credential: CloudB): Promise<Token<string>> {
  return await source(credential).fetch(live())
}

async function failure(one: TokenSource<string>): Promise<TokenError> {
  const error = await one.fetch(live()).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof TokenError)) throw new Error(`no TokenError: ${inspect(error)}`)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/planted/)
  return error
}

async function workload(): Promise<void> {
  const file = join(folder, 'token')
  await writeFile(file, ASSERTION)
  vi.stubEnv('AZURE_TENANT_ID', TENANT)
  vi.stubEnv('AZURE_CLIENT_ID', CLIENT)
  vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file)
}

/** Requests for tokens, without metadata of the issuer and probes. */
function forms(): URLSearchParams[] {
  return endpoints.seen.filter(({ method }) => method === 'POST').map(({ body }) => new URLSearchParams(body))
}

describe('the emulated endpoints, with the client of the vendor alone', () => {
  it('gives it a token for a client secret', async () => {
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => granted('t1') })
    const cloud = new CloudFetch({ admits: () => true, signal: live(), send: endpoints.send })
    const credential = new ClientSecretCredential(TENANT, CLIENT, SECRET, { httpClient: httpClient(cloud) })
    expect(await credential.getToken(SCOPE)).toMatchObject({ token: 't1' })
  })

  it('gives it a token for a workload identity', async () => {
    await workload()
    tokenEndpoint(endpoints, { assertion: ASSERTION, answer: () => granted('t2') })
    const cloud = new CloudFetch({ admits: () => true, signal: live(), send: endpoints.send })
    const credential = new WorkloadIdentityCredential({ httpClient: httpClient(cloud) })
    expect(await credential.getToken(SCOPE)).toMatchObject({ token: 't2' })
  })

  it('gives it a token of the metadata service, over its own HTTP client', async () => {
    vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', `http://${endpoints.authority}`)
    metadataService(endpoints, () => managed('t3'))
    expect(await new ManagedIdentityCredential().getToken(SCOPE)).toMatchObject({ token: 't3' })
    expect(endpoints.seen.at(-1)?.url.searchParams.get('resource')).toBe('https://cognitiveservices.azure.com')
  })
})

describe('client secret', () => {
  it('fetches a token with its expiry', async () => {
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => granted('t1', 600) })
    const before = Date.now()
    const { value, expiresMs } = await fetched(CLIENT_SECRET)
    expect(value).toBe('t1')
    expect(expiresMs).toBeGreaterThan(before + 595_000)
    expect(expiresMs).toBeLessThan(Date.now() + 601_000)
    expect(forms().map((form) => form.get('scope')?.split(' '))).toEqual([expect.arrayContaining([SCOPE])])
  })

  it('asks again each time, because only the store keeps tokens', async () => {
    let count = 0
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => granted(`t${++count}`) })
    const one = source(CLIENT_SECRET)
    expect((await one.fetch(live())).value).toBe('t1')
    expect((await one.fetch(live())).value).toBe('t2')
  })

  it('names the code of the endpoint and no text of it if the secret is wrong', async () => {
    tokenEndpoint(endpoints, { secret: 'another', answer: () => granted('t1') })
    const error = await failure(source(CLIENT_SECRET))
    expect(error.reason).toBe('Rejected')
    expect(error.message).toBe(`${AUTHORITY} answered 401 (invalid_client, AADSTS7000215)`)
  })

  it.each([
    ['has expired already', () => granted('t1', 0)],
    ['ended in the past', () => granted('t1', -5)],
    ['ends in a moment', () => granted('t1', 4)],
    ['has no expiry', () => granted('t1', null)],
    ['has an expiry that is text', () => granted('t1', 'soon')],
    ['is empty', () => granted('')],
    ['does not fit into a header field', () => granted('a\r\nx: y')],
    ['is longer than a header field', () => granted('a'.repeat(20_000))],
  ])('refuses a token that %s', async (_, answer) => {
    tokenEndpoint(endpoints, { secret: SECRET, answer })
    expect((await failure(source(CLIENT_SECRET))).reason).toBe('Unavailable')
  })

  it('keeps no token for more than a day, whatever the endpoint claims', async () => {
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => granted('t1', 1e9) })
    expect((await fetched(CLIENT_SECRET)).expiresMs).toBeLessThanOrEqual(Date.now() + 24 * 3600_000)
  })

  it.each([
    [500, 'Unavailable', `${AUTHORITY} answered 500 (temporarily_unavailable)`],
    [429, 'Unavailable', `${AUTHORITY} answered 429 (temporarily_unavailable)`],
    [403, 'Rejected', `${AUTHORITY} answered 403 (temporarily_unavailable)`],
  ])('reports status %i as %s', async (status, reason, message) => {
    tokenEndpoint(endpoints, {
      secret: SECRET,
      answer: () => ({ status, body: { error: 'temporarily_unavailable', error_description: SECRET } }),
    })
    expect(await failure(source(CLIENT_SECRET))).toMatchObject({ reason, message })
  })

  it('follows no redirect', async () => {
    tokenEndpoint(endpoints, {
      secret: SECRET,
      answer: () => ({ status: 307, headers: { location: '/elsewhere' }, body: '' }),
    })
    await failure(source(CLIENT_SECRET))
    expect(endpoints.seen.map(({ url }) => url.pathname)).not.toContain('/elsewhere')
  })

  it('refuses an answer without end', async () => {
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => ({ body: 'x'.repeat(300_000) }) })
    expect((await failure(source(CLIENT_SECRET))).message).toBe('the answer of the endpoint is too large')
  })

  it('ends when the caller stops waiting for an endpoint that never answers', async () => {
    const stop = new AbortController()
    tokenEndpoint(endpoints, {
      secret: SECRET,
      answer: () => {
        stop.abort()
        return undefined
      },
    })
    const error: unknown = await source(CLIENT_SECRET)
      .fetch(stop.signal)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      reason: 'Unavailable',
      message: `no credential within 5 s; the last request went to ${AUTHORITY}`,
    })
  })

  it('ends after 5 s if an endpoint never answers', { tags: ['full'] }, async () => {
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => undefined })
    const start = performance.now()
    expect((await failure(source(CLIENT_SECRET))).message).toMatch(/^no credential within 5 s/)
    expect(performance.now() - start).toBeGreaterThan(4900)
  })

  it('reports an endpoint that cannot be reached', async () => {
    const send = async (): Promise<Response> =>
      await Promise.reject(
        new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
      )
    const one = cloudBSource({ credential: CLIENT_SECRET, scope: SCOPE, owner: 'a/b', send })
    expect((await failure(one)).message).toBe(`${AUTHORITY} cannot be reached (ECONNREFUSED)`)
  })

  it('sends nothing for a tenant that is not a name', async () => {
    const tenantId = '../evil.example?'
    const error = await failure(source({ application: { clientId: CLIENT, tenantId, proof: { secret: SECRET } } }))
    expect(error.message).toBe('the credential cannot be used (Error)')
    expect(endpoints.seen).toEqual([])
  })

  it('has another key for another secret and for another scope, and no secret in it', () => {
    const { key } = source(CLIENT_SECRET)
    const rotated = source({ application: { clientId: CLIENT, tenantId: TENANT, proof: { secret: 'new' } } })
    expect(rotated.key).not.toBe(key)
    expect(source(CLIENT_SECRET, 'https://ai.azure.com/.default').key).not.toBe(key)
    expect(source(CLIENT_SECRET).key).toBe(key)
    expect(key).toMatch(/^[\w-]{43}$/)
  })
})

describe('client certificate', () => {
  const { certificate, privateKey } = certificateFor({ commonName: 'gateway', key: 'RSA' })
  const withProof = (pem: string): CloudB => ({
    application: { clientId: CLIENT, tenantId: TENANT, proof: { certificate: pem } },
  })

  /** Signed by its key, for the token endpoint (RFC 7523), and names the certificate. */
  function isSigned(assertion: string): boolean {
    const [head = '', claims = '', signature = ''] = assertion.split('.')
    const json = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    const padding = constants.RSA_PKCS1_PSS_PADDING
    const key = json(head)['alg'] === 'PS256' ? { key: certificate, padding } : certificate
    const isValid = verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
    return isValid && json(claims)['iss'] === CLIENT && String(json(claims)['aud']).includes(TENANT)
  }

  it('fetches a token with an assertion that its key has signed', async () => {
    tokenEndpoint(endpoints, { assertion: isSigned, answer: () => granted('t1') })
    expect((await fetched(withProof(`${privateKey}${certificate}`))).value).toBe('t1')
    expect(forms().map((form) => form.get('client_secret'))).toEqual([null])
  })

  it.each([
    ['has no key', () => certificate],
    ['is no PEM', () => 'planted'],
  ])('fails without its text if the certificate %s', async (_, pem) => {
    tokenEndpoint(endpoints, { assertion: isSigned, answer: () => granted('t1') })
    const error = await failure(source(withProof(pem())))
    expect(error.message).toMatch(/^the credential cannot be used/)
    expect(forms()).toEqual([])
  })
})

describe('workload identity', () => {
  it('exchanges the federated token of the pod, and reads it again each time', async () => {
    await workload()
    tokenEndpoint(endpoints, { assertion: ASSERTION, answer: () => granted('t1') })
    const one = source({ workloadIdentity: true })
    expect((await one.fetch(live())).value).toBe('t1')
    await writeFile(join(folder, 'token'), 'rotated')
    tokenEndpoint(endpoints, { assertion: 'rotated', answer: () => granted('t2') })
    expect((await one.fetch(live())).value).toBe('t2')
  })

  it('names the variables that are missing', async () => {
    const error = await failure(source({ workloadIdentity: true }))
    expect(error.message).toBe(
      'workload identity: AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE not set',
    )
  })
})

describe('managed identity', () => {
  it.each([
    [{}, undefined, undefined],
    [{ clientId: CLIENT }, 'client_id', CLIENT],
    [{ objectId: 'o1' }, 'object_id', 'o1'],
    [{ resourceId: '/subscriptions/s/x' }, 'msi_res_id', '/subscriptions/s/x'],
  ])('asks the metadata service for %j', async (managedIdentity, name, value) => {
    let count = 0
    metadataService(endpoints, () => managed(`t${++count}`))
    const one = source({ managedIdentity })
    expect((await one.fetch(live())).value).toBe('t1')
    // The library keeps these tokens for the whole process; the source must not use that.
    expect((await one.fetch(live())).value).toBe('t2')
    const { url, host } = endpoints.seen[0] ?? {}
    expect(host).toBe(METADATA)
    expect(url?.pathname).toBe(METADATA_PATH)
    expect(url?.searchParams.get('resource')).toBe('https://cognitiveservices.azure.com')
    if (name !== undefined) expect(url?.searchParams.get(name)).toBe(value)
    else expect([...(url?.searchParams.keys() ?? [])].sort()).toEqual(['api-version', 'resource'])
  })

  it('reports an identity that the machine does not have', async () => {
    metadataService(endpoints, () => ({ status: 400, body: { error: 'invalid_request', error_description: 'x' } }))
    expect(await failure(source({ managedIdentity: { clientId: CLIENT } }))).toMatchObject({
      reason: 'Rejected',
      message: `${METADATA} answered 400 (invalid_request)`,
    })
  })
})

describe('the chain', () => {
  it('takes the client secret of the environment first', async () => {
    await workload()
    vi.stubEnv('AZURE_CLIENT_SECRET', SECRET)
    tokenEndpoint(endpoints, { secret: SECRET, answer: () => granted('t1') })
    expect((await fetched({})).value).toBe('t1')
  })

  it('then the workload identity', async () => {
    await workload()
    tokenEndpoint(endpoints, { assertion: ASSERTION, answer: () => granted('t1') })
    metadataService(endpoints, () => managed('never'))
    expect((await fetched({})).value).toBe('t1')
    expect(endpoints.seen.some(({ host }) => host === METADATA)).toBe(false)
  })

  it('then the managed identity, probed without the field that gives a token, and remembers it', async () => {
    metadataService(endpoints, () => managed('t1'))
    const one = source({})
    expect((await one.fetch(live())).value).toBe('t1')
    expect(endpoints.seen.map(({ headers }) => headers['metadata'])).toEqual([undefined, 'true'])
    vi.stubEnv('AZURE_TENANT_ID', TENANT)
    vi.stubEnv('AZURE_CLIENT_ID', CLIENT)
    vi.stubEnv('AZURE_CLIENT_SECRET', SECRET)
    expect((await one.fetch(live())).value).toBe('t1')
    expect(endpoints.seen.every(({ host }) => host === METADATA)).toBe(true)
  })

  it('continues after a credential that is refused', async () => {
    await workload()
    vi.stubEnv('AZURE_CLIENT_SECRET', 'wrong')
    tokenEndpoint(endpoints, { assertion: ASSERTION, answer: () => granted('t1') })
    expect((await fetched({})).value).toBe('t1')
  })

  it('waits 1 s for a metadata service that does not answer, and names every credential', async () => {
    endpoints.on(`${METADATA}/`, () => undefined)
    const start = performance.now()
    const { message } = await failure(source({}))
    expect(performance.now() - start).toBeLessThan(4500)
    expect(message).toMatch(
      /^no credential of the chain works: client secret of the environment: AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET not set; workload identity: .* not set; managed identity: .*; Azure CLI: .*; Azure Developer CLI: /,
    )
    expect(endpoints.seen.filter(({ host }) => host === METADATA)).toHaveLength(1)
  })
})

it.each([
  ['r1.openai.azure.com', SCOPE],
  ['r1.cognitiveservices.azure.com', SCOPE],
  ['proxy.example', SCOPE],
  ['r1.services.ai.azure.com', 'https://ai.azure.com/.default'],
  ['R1.Services.AI.Azure.com:443', 'https://ai.azure.com/.default'],
  ['services.ai.azure.com.evil.example', SCOPE],
])('the scope for %s is %s', (host, scope) => {
  expect(scopeFor(host)).toBe(scope)
})

it.each([
  ['https://login.microsoftonline.com/x', true],
  ['https://login.microsoftonline.us/x', true],
  ['http://169.254.169.254/metadata', true],
  ['http://login.microsoftonline.com/x', false],
  ['https://login.microsoftonline.com.evil.example/x', false],
  ['https://user@login.microsoftonline.com/x', false],
  ['https://login.microsoftonline.com:8443/x', false],
  ['https://169.254.169.254/', false],
  ['http://10.0.0.1/', false],
  ['http://identity.local:4141/msi', true],
])('a credential may be sent to %s: %s', (url, expected) => {
  vi.stubEnv('IDENTITY_ENDPOINT', 'http://identity.local:4141/msi/token')
  expect(admitsCloudB(new URL(url))).toBe(expected)
})
