// Keys of the environment and of roles, from emulated servers. The providers of the vendor's library are the first
// clients of each server, so that a server that differs from AWS is noticed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromContainerMetadata, fromHttp, fromInstanceMetadata, fromTokenFile } from '@aws-sdk/credential-providers'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TokenError, type Token, type TokenSource, type TokenStore } from '../token.ts'
import type { AccessKeys } from './access-keys.ts'
import { ambientKeys } from './ambient.ts'
import { type AssumedRole, roleKeys } from './assume-role.ts'
import { containerServer, metadataServer, stsServer, type TestServer } from './servers.testing.ts'

const ROLE = 'arn:aws:iam::123456789012:role/gateway'
const SIGNAL = (): AbortSignal => AbortSignal.timeout(5000)

const servers: TestServer[] = []
let folder: string

async function opened<S extends TestServer>(server: Promise<S>): Promise<S> {
  const one = await server
  servers.push(one)
  return one
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-cloud-a-'))
  for (const name of Object.keys(process.env).filter((one) => one.startsWith('AWS_'))) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'))
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'))
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_REGION', 'eu-central-1')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

function fetchAmbient(): Promise<Token<AccessKeys>> {
  return ambientKeys().fetch(SIGNAL())
}

async function failureOf(fetched: Promise<unknown>): Promise<TokenError> {
  const error: unknown = await fetched.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof TokenError)) throw new Error(`no TokenError: ${String(error)}`)
  return error
}

describe('keys of the environment', () => {
  it('reads variables, and reads them again after 15 minutes', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret')
    vi.stubEnv('AWS_SESSION_TOKEN', 'env-token')
    const { value, expiresMs } = await fetchAmbient()
    expect(value).toEqual({ accessKeyId: 'AKIAENV', secretAccessKey: 'env-secret', sessionToken: 'env-token' })
    expect(Math.abs(expiresMs - Date.now() - 900_000)).toBeLessThan(5000)
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIANEXT')
    expect((await fetchAmbient()).value.accessKeyId).toBe('AKIANEXT')
  })

  it('reads shared files', async () => {
    writeFileSync(join(folder, 'credentials'), '[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = s\n')
    expect((await fetchAmbient()).value).toEqual({ accessKeyId: 'AKIAFILE', secretAccessKey: 's' })
  })

  it('exchanges a web identity token (IRSA), and reads the file for each fetch', async () => {
    const sts = await opened(stsServer(new Map()))
    const file = join(folder, 'token')
    writeFileSync(file, 'first-token')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    vi.stubEnv('AWS_ROLE_ARN', ROLE)
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file)
    expect((await fromTokenFile()()).accessKeyId).toBe('ASIA1')
    const { value, expiresMs } = await fetchAmbient()
    expect(value).toEqual({ accessKeyId: 'ASIA2', secretAccessKey: 'sts-secret-2', sessionToken: 'sts-token-2' })
    expect(Math.abs(expiresMs - sts.expiration.getTime())).toBeLessThan(1000)
    writeFileSync(file, 'second-token')
    await fetchAmbient()
    expect(sts.calls.map(({ form }) => form['WebIdentityToken'])).toEqual([
      'first-token',
      'first-token',
      'second-token',
    ])
    expect(sts.calls[1]?.form).toMatchObject({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE })
  })

  it('reads container credentials (EKS Pod Identity) with the token of the file', async () => {
    const server = await opened(containerServer('pod-token'))
    const file = join(folder, 'pod-token')
    writeFileSync(file, 'pod-token')
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${server.url}/v1/credentials`)
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file)
    expect((await fromHttp()()).accessKeyId).toBe('ASIAcontainer')
    const { value, expiresMs } = await fetchAmbient()
    expect(value).toEqual({
      accessKeyId: 'ASIAcontainer',
      secretAccessKey: 'container-secret',
      sessionToken: 'container-token',
    })
    expect(expiresMs).toBe(server.expiration.getTime())
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', undefined)
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'pod-token')
    expect((await fromContainerMetadata()()).accessKeyId).toBe('ASIAcontainer')
  })

  it('reads instance metadata with a token of version 2', async () => {
    const server = await opened(metadataServer())
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', server.url)
    expect((await fromInstanceMetadata()()).accessKeyId).toBe('ASIAinstance')
    const { value, expiresMs } = await fetchAmbient()
    expect(value.sessionToken).toBe('instance-token')
    expect(expiresMs).toBe(server.expiration.getTime())
  })

  it('never returns keys of instance metadata that have expired', async () => {
    const server = await opened(metadataServer())
    server.expiration = new Date(Date.now() - 1000)
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', server.url)
    expect((await failureOf(fetchAmbient())).message).toBe('AWS credentials of the environment: the keys have expired')
  })

  it('fails without any source, and names no file or variable', async () => {
    const error = await failureOf(fetchAmbient())
    expect(error.message).toBe('AWS credentials of the environment: no source has usable keys')
    expect(error.reason).toBe('Unavailable')
  })

  it.each([
    ['rejected', { status: 403, code: 'AccessDenied', message: 'planted-secret' }, 'Rejected'],
    ['failed', { status: 500, code: 'InternalFailure', message: 'planted-secret' }, 'Unavailable'],
  ] as const)('a web identity that is %s names the code only', async (_, failure, reason) => {
    const sts = await opened(stsServer(new Map()))
    sts.failure = failure
    writeFileSync(join(folder, 'token'), 'planted-secret')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    vi.stubEnv('AWS_ROLE_ARN', ROLE)
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'))
    const error = await failureOf(fetchAmbient())
    expect(error).toMatchObject({ reason, message: expect.not.stringContaining('planted') })
    expect(sts.calls).toHaveLength(1)
  })

  it.each([
    ['http://sts.invalid', 'ENOTFOUND sts.invalid'],
    ['http://127.0.0.1:1', 'ECONNREFUSED 127.0.0.1'],
  ])('names the host if STS cannot be reached: %s', async (url, cause) => {
    writeFileSync(join(folder, 'token'), 'planted-secret')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', url)
    vi.stubEnv('AWS_ROLE_ARN', ROLE)
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'))
    expect((await failureOf(fetchAmbient())).message).toBe(`AWS credentials of the environment: ${cause}`)
  })

  it('ends at the abort', async () => {
    const sts = await opened(stsServer(new Map()))
    sts.failure = 'silence'
    writeFileSync(join(folder, 'token'), 't')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    vi.stubEnv('AWS_ROLE_ARN', ROLE)
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'))
    const fetched = ambientKeys().fetch(AbortSignal.timeout(50))
    expect((await failureOf(fetched)).message).toBe('AWS credentials of the environment: no answer in time')
  })
})

const BASE: Token<AccessKeys> = {
  value: { accessKeyId: 'AKIABASE', secretAccessKey: 'base-secret', sessionToken: 'base-token' },
  expiresMs: Date.now() + 3_600_000,
}
const SECRETS = new Map([['AKIABASE', 'base-secret']])
const base: TokenSource<AccessKeys> = {
  key: 'base',
  name: { kind: 'cloudA', owner: 'base' },
  fetch: () => Promise.resolve(BASE),
}

function storeWith(invalidate: TokenStore['invalidate'] = () => true): TokenStore {
  return { get: (source) => source.fetch(SIGNAL()), invalidate }
}

function assumed(changes: Partial<AssumedRole> = {}): AssumedRole {
  return { role: ROLE, externalId: undefined, region: 'eu-central-1', session: { name: 'gw', tags: [] }, ...changes }
}

function sourceOf(role: AssumedRole, tokens = storeWith()): TokenSource<AccessKeys> {
  return roleKeys(role, { base, tokens })
}

describe('keys of an assumed role', () => {
  it('calls STS with a signature of the base keys, name and tags', async () => {
    const sts = await opened(stsServer(SECRETS))
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    const client = new STSClient({ region: 'us-east-1', credentials: BASE.value })
    await client.send(new AssumeRoleCommand({ RoleArn: ROLE, RoleSessionName: 'vendor' }))
    const tags = [
      { key: 'team', value: 'a b' },
      { key: 'user', value: 'u' },
    ]
    const { value, expiresMs } = await sourceOf(assumed({ session: { name: 'me@x', tags } })).fetch(SIGNAL())
    expect(value).toEqual({ accessKeyId: 'ASIA2', secretAccessKey: 'sts-secret-2', sessionToken: 'sts-token-2' })
    expect(Math.abs(expiresMs - sts.expiration.getTime())).toBeLessThan(1000)
    expect(sts.calls[1]?.verified).toMatchObject({ accessKeyId: 'AKIABASE', region: 'eu-central-1', service: 'sts' })
    expect(sts.calls[1]?.form).toMatchObject({
      RoleArn: ROLE,
      RoleSessionName: 'me@x',
      'Tags.member.1.Key': 'team',
      'Tags.member.1.Value': 'a b',
      'Tags.member.2.Key': 'user',
      'Tags.member.2.Value': 'u',
    })
  })

  it('has one key for each role, region, name and set of tags, without any of their values', () => {
    const session = { name: 'gw', tags: [{ key: 'user', value: 'planted-value' }] }
    const keys = [
      assumed(),
      assumed({ role: `${ROLE}2` }),
      assumed({ region: 'us-east-1' }),
      assumed({ session: { name: 'other', tags: [] } }),
      assumed({ session }),
      assumed({ session: { name: 'gw', tags: [{ key: 'user', value: 'other' }] } }),
    ].map((role) => sourceOf(role).key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.join()).not.toContain('planted')
    expect(sourceOf(assumed({ session: structuredClone(session) })).key).toBe(keys[4])
  })

  it('gives up the base keys when STS does not accept them', async () => {
    const sts = await opened(stsServer(SECRETS))
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    sts.failure = { status: 403, code: 'ExpiredToken', message: 'planted-secret' }
    const invalidate = vi.fn()
    const error = await failureOf(sourceOf(assumed(), storeWith(invalidate)).fetch(SIGNAL()))
    expect(invalidate).toHaveBeenCalledExactlyOnceWith(base, BASE)
    expect(error.message).toMatch(/^AssumeRole: ExpiredToken(Exception)?$/)
  })

  it('calls STS once more if there are other base keys', async () => {
    const sts = await opened(stsServer(SECRETS))
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    sts.failure = { status: 403, code: 'ExpiredToken', message: 'expired' }
    const invalidate = vi.fn(() => {
      if (sts.calls.length === 1) sts.failure = undefined
      return true
    })
    const token = await sourceOf(assumed(), storeWith(invalidate)).fetch(SIGNAL())
    expect(token.value).toMatchObject({ accessKeyId: 'ASIA2' })
    sts.failure = { status: 403, code: 'ExpiredToken', message: 'expired' }
    await failureOf(sourceOf(assumed(), storeWith(invalidate)).fetch(SIGNAL()))
    expect(sts.calls).toHaveLength(4)
  })

  it('keeps the base keys when the role is refused, and calls once', async () => {
    const sts = await opened(stsServer(SECRETS))
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    sts.failure = { status: 403, code: 'AccessDenied', message: 'planted-secret' }
    const invalidate = vi.fn()
    const error = await failureOf(sourceOf(assumed(), storeWith(invalidate)).fetch(SIGNAL()))
    expect(error).toMatchObject({ reason: 'Rejected', message: 'AssumeRole: AccessDenied' })
    expect(invalidate).not.toHaveBeenCalled()
    expect(sts.calls).toHaveLength(1)
  })

  it('ends at the abort', async () => {
    const sts = await opened(stsServer(SECRETS))
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
    sts.failure = 'silence'
    const error = await failureOf(sourceOf(assumed()).fetch(AbortSignal.timeout(50)))
    expect(error.reason).toBe('Unavailable')
  })
})
