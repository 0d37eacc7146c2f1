// cloudA in a policy: whose keys sign, what of the client's is removed, and what is rejected.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { compilePermissive } from '#api/cel/compile.ts'
import type { BackendAuth } from '#api/ir/types.gen.ts'
import { type StsServer, stsServer } from '../../credentials/cloud-a/servers.testing.ts'
import { verifySignature, type Verified } from '../../credentials/cloud-a/verifier.testing.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { Exchange, type Connection } from '../../exchange/exchange.ts'
import { HeaderList } from '../../message/headers.ts'
import { HttpRequest } from '../../message/message.ts'
import { compileBackendAuth } from '../auth.ts'

const ROLE = 'arn:aws:iam::123456789012:role/gateway'
const PLANTED = ['planted-secret', 'planted-token', 'env-secret', 'env-token']

const secrets = new Map([
  ['ns/aws/accessKey', 'AKIASECRET\n'],
  ['ns/aws/secretKey', 'planted-secret\n'],
  ['ns/aws/sessionToken', 'planted-token'],
])
const SECRET_OF = new Map([
  ['AKIASECRET', 'planted-secret'],
  ['AKIAENV', 'env-secret'],
])

const KEYS = {
  accessKey: { secret: 'ns/aws/accessKey' },
  secretKey: { secret: 'ns/aws/secretKey' },
}

let sts: StsServer

beforeEach(async () => {
  sts = await stsServer(SECRET_OF)
  for (const name of Object.keys(process.env).filter((one) => one.startsWith('AWS_'))) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await sts.close()
})

function withEnvironmentKeys(): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret')
  vi.stubEnv('AWS_SESSION_TOKEN', 'env-token')
}

function exchangeWith(headers: [string, string][] = []): Exchange {
  const connection: Connection = {
    id: 1,
    sourceAddress: '127.0.0.1',
    sourcePort: 1,
    localAddress: '127.0.0.1',
    localPort: 2,
    isTls: false,
    sni: undefined,
    signal: new AbortController().signal,
    close() {},
    cut: () => true,
  }
  const request = new HttpRequest({
    method: 'POST',
    path: '/model/a%3Ab/invoke',
    query: 'q=a+b',
    host: 'h',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(headers),
  })
  return new Exchange(connection, request, 0)
}

function compiled(cloudA: NonNullable<BackendAuth['cloudA']>) {
  return compileBackendAuth(
    { cloudA },
    {
      secret: ({ secret }) => secrets.get(secret),
      tokens: new WorkerTokenStore(),
      expression: compilePermissive,
      service: () => undefined,
      origin: () => {
        throw new Error('unused')
      },
    },
  )
}

/** What the backend gets; a text is why there is no signature. */
async function signed(
  policy: ReturnType<typeof compiled>,
  exchange = exchangeWith(),
): Promise<{ verified: Verified; headers: Record<string, string> } | string> {
  const verdict = await policy.request?.(exchange)
  if (verdict !== undefined) return `${verdict.status} ${exchange.errorDetail ?? ''}`
  const { request } = exchange
  const body = Buffer.from('{"a":1}')
  const authority = 'bedrock-runtime.eu-central-1.amazonaws.com'
  const { method, pathAndQuery, headers } = request
  const signature = await request.signer?.({ method, pathAndQuery, authority, headers, body }, undefined)
  if (signature === undefined) return 'no signer'
  if ('problem' in signature) return signature.problem
  for (const [name, value] of signature.fields) headers.set(name, value)
  const received = { host: authority, ...Object.fromEntries(headers) }
  const verified = verifySignature(
    { method, target: pathAndQuery, headers: received, body },
    (id) => SECRET_OF.get(id) ?? `sts-secret-${id.slice(4)}`,
  )
  return { verified, headers: received }
}

describe('cloudA', () => {
  it('signs with the keys of a Secret, and takes nothing of the signature from the client', async () => {
    const policy = compiled({
      secretRef: { ...KEYS, sessionToken: { secret: 'ns/aws/sessionToken' } },
      serviceName: 'execute-api',
      region: 'eu-west-1',
    })
    const client: [string, string][] = [
      ['authorization', 'Bearer of-client'],
      ['x-amz-security-token', 'of-client'],
      ['x-amz-date', '20000101T000000Z'],
      ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
      ['date', 'Sat, 01 Jan 2000 00:00:00 GMT'],
      ['content-type', 'application/json'],
    ]
    expect(await signed(policy, exchangeWith(client))).toMatchObject({
      verified: { accessKeyId: 'AKIASECRET', region: 'eu-west-1', service: 'execute-api' },
      headers: { 'x-amz-security-token': 'planted-token', 'content-type': 'application/json' },
    })
    expect(JSON.stringify(await signed(policy, exchangeWith(client)))).not.toContain('of-client')
    const withoutToken = await signed(compiled({ secretRef: KEYS, region: 'r' }), exchangeWith(client))
    expect(withoutToken).not.toHaveProperty(['headers', 'x-amz-security-token'])
    expect(withoutToken).not.toHaveProperty(['headers', 'date'])
    expect(withoutToken).toMatchObject({ verified: { service: 'bedrock' } })
  })

  it('signs with the keys of a rotated Secret', async () => {
    const before = secrets.get('ns/aws/accessKey') ?? ''
    try {
      secrets.set('ns/aws/accessKey', 'AKIAENV')
      secrets.set('ns/aws/secretKey', 'env-secret')
      const result = await signed(compiled({ secretRef: KEYS, region: 'r' }))
      expect(result).toMatchObject({ verified: { accessKeyId: 'AKIAENV' } })
    } finally {
      secrets.set('ns/aws/accessKey', before)
      secrets.set('ns/aws/secretKey', 'planted-secret\n')
    }
  })

  it('rejects all requests without its Secret', async () => {
    const policy = compiled({ secretRef: { ...KEYS, secretKey: { secret: 'ns/aws/none' } }, region: 'r' })
    expect(await signed(policy)).toBe('500 secret ns/aws/none is missing or empty')
  })

  it('signs with the keys and in the region of the environment', async () => {
    withEnvironmentKeys()
    vi.stubEnv('AWS_REGION', 'ap-south-1')
    expect(await signed(compiled({}))).toMatchObject({
      verified: { accessKeyId: 'AKIAENV', region: 'ap-south-1', service: 'bedrock' },
      headers: { 'x-amz-security-token': 'env-token' },
    })
  })

  it('names the cause when the environment has no keys', async () => {
    expect(await signed(compiled({ region: 'r' }))).toBe(
      'cloudA: AWS credentials of the environment: no source has usable keys',
    )
  })

  it('assumes a role once for each name and set of tags', async () => {
    withEnvironmentKeys()
    const policy = compiled({
      region: 'eu-west-1',
      assumeRole: {
        roleRef: ROLE,
        sessionNameExpression: 'request.headers["x-user"]',
        tags: [
          { key: 'user', expression: 'request.headers["x-user"]' },
          { key: 'team', value: 'shop' },
        ],
      },
    })
    const of = (user: string) => signed(policy, exchangeWith([['x-user', user]]))
    expect(await of('ann')).toMatchObject({
      verified: { accessKeyId: 'ASIA1' },
      headers: { 'x-amz-security-token': 'sts-token-1' },
    })
    expect(await of('bob')).toMatchObject({ verified: { accessKeyId: 'ASIA2' } })
    expect(await of('ann')).toMatchObject({ verified: { accessKeyId: 'ASIA1' } })
    expect(sts.calls).toHaveLength(2)
    expect(sts.calls[1]).toMatchObject({
      form: { RoleSessionName: 'bob', 'Tags.member.2.Key': 'user', 'Tags.member.2.Value': 'bob' },
      verified: { accessKeyId: 'AKIAENV', region: 'eu-west-1' },
    })
  })

  it('sends the external id of the role, and keeps keys of each one apart', async () => {
    withEnvironmentKeys()
    const of = (externalId?: string) =>
      signed(compiled({ region: 'eu-west-1', assumeRole: { roleRef: ROLE, ...(externalId && { externalId }) } }))
    for (const externalId of ['customer-7', 'customer-8', undefined, 'customer-7']) await of(externalId)
    const given = ({ form }: (typeof sts.calls)[number]): unknown => form['ExternalId']
    expect(sts.calls.map(given).slice(0, 3)).toEqual(['customer-7', 'customer-8', undefined])
  })

  it.each([
    ['a', '500 cloudA: the session name is not 2 to 64 letters, digits and _+=,.@-'],
    ['a b', '500 cloudA: the session name is not 2 to 64 letters, digits and _+=,.@-'],
    [undefined, '500 cloudA: assumeRole.sessionNameExpression has no usable value'],
  ])('rejects the session name %j, and calls no server', async (user, problem) => {
    withEnvironmentKeys()
    const policy = compiled({
      region: 'r',
      assumeRole: { roleRef: ROLE, sessionNameExpression: 'request.headers["x-user"]' },
    })
    expect(await signed(policy, exchangeWith(user === undefined ? [] : [['x-user', user]]))).toBe(problem)
    expect(sts.calls).toHaveLength(0)
  })

  it('shows no secret when STS refuses', async () => {
    withEnvironmentKeys()
    sts.failure = { status: 403, code: 'AccessDenied', message: 'planted-secret env-secret' }
    const result = await signed(compiled({ region: 'r', assumeRole: { roleRef: ROLE } }))
    expect(result).toBe('cloudA: AssumeRole: AccessDenied')
    for (const secret of PLANTED) expect(result).not.toContain(secret)
  })
})
