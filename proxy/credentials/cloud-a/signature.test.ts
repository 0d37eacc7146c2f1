import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { describe, expect, it } from 'vitest'
import type { AccessKeys } from './access-keys.ts'
import { type RequestToSign, signatureFields, type SigningScope, withoutPlus } from './signature.ts'
import { type ReceivedRequest, verifySignature } from './verifier.testing.ts'

/** Of the vendor's test suite of Signature Version 4. */
const SUITE_KEYS: AccessKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const SUITE: SigningScope = { service: 'service', region: 'us-east-1' }
const SUITE_DATE = new Date('2015-08-30T12:36:00Z')

/** Of the examples of the documentation of object storage. */
const STORAGE_KEYS: AccessKeys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

type Fields = readonly (readonly [string, string])[]

function requestOf(method: string, pathAndQuery: string, fields: Fields = [], body?: string): RequestToSign {
  return {
    method,
    pathAndQuery,
    authority: 'example.amazonaws.com',
    headers: fields,
    body: body === undefined ? undefined : Buffer.from(body),
  }
}

function signatureIn(fields: Fields): string | undefined {
  return /Signature=([0-9a-f]+)$/.exec(new Map(fields).get('authorization') ?? '')?.[1]
}

describe('the test suite of the vendor', () => {
  it.each<[string, RequestToSign, string]>([
    ['get-vanilla', requestOf('GET', '/'), '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      'get-vanilla-query-order-key-case',
      requestOf('GET', '/?Param2=value2&Param1=value1'),
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-vanilla-empty-query-key',
      requestOf('GET', '/?Param1=value1'),
      'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
    ],
    // The suite has the path in UTF-8, which is encoded once; paths of the proxy are encoded already.
    ['get-utf8', requestOf('GET', '/\u1234'), '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
    [
      'get-unreserved',
      requestOf('GET', '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    ['post-vanilla', requestOf('POST', '/'), '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-x-www-form-urlencoded',
      requestOf('POST', '/', [['content-type', 'application/x-www-form-urlencoded']], 'Param1=value1'),
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s', async (_, request, signature) => {
    const fields = await signatureFields(request, SUITE_KEYS, SUITE, SUITE_DATE)
    expect(signatureIn(fields)).toBe(signature)
  })

  it.each([
    ['/?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['/?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('object storage: GET %s', async (target, signature) => {
    const request = { ...requestOf('GET', target), authority: 'examplebucket.s3.amazonaws.com' }
    const scope = { service: 's3', region: 'us-east-1' }
    const fields = await signatureFields(request, STORAGE_KEYS, scope, new Date('2013-05-24T00:00:00Z'))
    expect(signatureIn(fields)).toBe(signature)
    expect(new Map(fields).get('x-amz-content-sha256')).toMatch(/^e3b0c44298fc1c14/)
  })
})

/** What a server gets when the proxy has set the fields. */
function received(request: RequestToSign, fields: Fields): ReceivedRequest {
  const headers: Record<string, string> = { host: request.authority }
  for (const [name, text] of [...request.headers, ...fields]) {
    const value = text.trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`
  }
  return { method: request.method, target: request.pathAndQuery, headers, body: request.body ?? Buffer.alloc(0) }
}

const secretOf = (): string => SUITE_KEYS.secretAccessKey
const TEMPORARY = { ...SUITE_KEYS, sessionToken: 'token-of-a-session/+==' }

describe('a second implementation, from the documentation', () => {
  it('accepts what the SDK of the vendor signs', async () => {
    let seen: ReceivedRequest | undefined
    const client = new STSClient({
      region: 'eu-central-1',
      credentials: TEMPORARY,
      maxAttempts: 1,
      requestHandler: {
        handle(request: { method: string; path: string; headers: Record<string, string>; body: string }) {
          const { method, path, headers, body } = request
          const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
          seen = { method, target: path, headers: lower, body: Buffer.from(body) }
          return Promise.reject(new Error('not sent'))
        },
      },
    })
    await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toThrow('not sent')
    if (seen === undefined) throw new Error('nothing was sent')
    expect(verifySignature(seen, secretOf)).toMatchObject({ service: 'sts', region: 'eu-central-1' })
    const tampered = { ...seen, body: Buffer.from('Action=Other') }
    expect(() => verifySignature(tampered, secretOf)).toThrow(/x-amz-content-sha256|SignatureDoesNotMatch/)
  })

  it.each<[string, RequestToSign, string]>([
    ['a model with a colon', requestOf('POST', '/model/anthropic.claude-v2:1/invoke', [], '{}'), 'bedrock'],
    ['an encoded path is encoded twice', requestOf('POST', '/model/a%3Ab%2Fc%20d/invoke', [], '{}'), 'bedrock'],
    ['repeated slashes and a last one', requestOf('GET', '/a//b/'), 'bedrock'],
    ['an encoded path of object storage is encoded once', requestOf('GET', "/a%20b//c'(d)%2B"), 's3'],
    ['a query', requestOf('GET', '/x?b=2&a=%2F%20z&b=1&flag&e='), 'bedrock'],
    ['names of prototypes in a query', requestOf('GET', '/x?constructor=1&toString=2'), 'bedrock'],
    ['an empty body', requestOf('POST', '/x', [], ''), 'bedrock'],
  ])('accepts %s', async (_, request, service) => {
    const fields = await signatureFields(request, TEMPORARY, { service, region: 'us-east-1' }, new Date())
    expect(verifySignature(received(request, fields), secretOf)).toMatchObject({ service })
  })

  it('accepts the fields that AWS reads, and no others are part of the signature', async () => {
    const request = requestOf(
      'POST',
      '/x',
      [
        ['content-type', 'application/json'],
        ['x-amz-meta', '  two   blanks '],
        ['x-amz-meta', 'second'],
        ['x-amzn-trace-id', 'Root=1'],
        ['user-agent', 'curl'],
        ['traceparent', '00-0-0-01'],
      ],
      '{"a":1}',
    )
    const fields = await signatureFields(request, TEMPORARY, SUITE, new Date())
    const { signedHeaders } = verifySignature(received(request, fields), secretOf)
    expect(signedHeaders).toEqual([
      'content-type',
      'host',
      'x-amz-date',
      'x-amz-meta',
      'x-amz-security-token',
      'x-amzn-trace-id',
    ])
  })

  it('values of the client do not stand in for those of the signature', async () => {
    const fields = [
      ['x-amz-security-token', 'of-client'],
      ['x-amz-date', '20000101T000000Z'],
      ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
      ['authorization', 'Bearer of-client'],
    ] as const
    const request = requestOf('POST', '/x', fields, 'body')
    const signed = await signatureFields(request, SUITE_KEYS, SUITE, SUITE_DATE)
    expect(signed).toEqual(await signatureFields({ ...request, headers: [] }, SUITE_KEYS, SUITE, SUITE_DATE))
  })

  it('reads + in a query as a blank, which is what is sent', async () => {
    expect(withoutPlus('a=b+c&d=e')).toBe('a=b%20c&d=e')
    const sent = requestOf('GET', `/x?${withoutPlus('a=b+c')}`)
    const fields = await signatureFields(requestOf('GET', '/x?a=b+c'), SUITE_KEYS, SUITE, SUITE_DATE)
    expect(verifySignature(received(sent, fields), secretOf)).toMatchObject({ region: 'us-east-1' })
  })

  it('signs a path and a query with invalid percent-encoding instead of failing', async () => {
    const fields = await signatureFields(requestOf('GET', '/%zz?%zz=%'), SUITE_KEYS, SUITE, SUITE_DATE)
    expect(signatureIn(fields)).toMatch(/^[0-9a-f]{64}$/)
  })
})
