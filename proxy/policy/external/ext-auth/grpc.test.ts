// The content of gRPC calls of the authorization service, and the effect of each part of its response.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ExtAuth } from '#api/ir/types.gen.ts'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { ServiceCaller } from '../../../chain/service.ts'
import {
  CheckResponseSchema,
  type CheckRequest,
  type CheckResponse,
} from '../../../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { Exchange } from '../../../exchange/exchange.ts'
import { certificateFor } from '#test/certificates.ts'
import { PeerCertificate } from '../../../socket/peer.ts'
import { setAttribute } from '../../../chain/attributes.ts'
import { exchangeOf, expression, fieldsOf, queuedOf, textOf, type ExchangeParts } from '../../exchange.testing.ts'
import { applyDecision } from './decision.ts'
import { decisionOf, grpcProtocol } from './grpc.ts'

const POLICY: ExtAuth = { service: { backend: 'ns/authz' }, failureMode: 'FailClosed' }

/** The check request that the service gets. */
async function asked(exchange: Exchange, policy: Partial<ExtAuth> = {}, body?: Buffer): Promise<CheckRequest> {
  const seen: unknown[] = []
  const service: ServiceCaller = {
    answerMs: 1,
    http: () => Promise.reject(new Error('not HTTP')),
    stream: () => Promise.reject(new Error('no stream')),
    unary: (_exchange, method, message) => {
      seen.push(message)
      return Promise.resolve(create(method.output))
    },
  }
  await grpcProtocol(policy.grpc ?? {}, { ...POLICY, ...policy }, { expression }).ask({ exchange, body }, service)
  return seen[0] as CheckRequest // the protocol has one method
}

const REQUEST: ExchangeParts = {
  method: 'POST',
  path: '/a/b',
  query: 'x=1',
  host: 'shop.test:8080',
  headers: [
    ['accept', 'text/html'],
    ['accept', '*/*'],
    ['cookie', 'a=1'],
    ['cookie', 'b=2'],
    ['x-name', Buffer.from('Jürgen').toString('latin1')],
    ['__proto__', 'p'],
  ],
}

describe('the check request', () => {
  it('contains addresses, request line and all headers', async () => {
    const { attributes } = await asked(exchangeOf(REQUEST))
    const socket = (address: string, portValue: number) => ({
      case: 'socketAddress',
      value: { address, portSpecifier: { case: 'portValue', value: portValue } },
    })
    expect(attributes).toMatchObject({
      source: { address: { address: socket('10.0.0.1', 40_000) }, principal: '' },
      destination: { address: { address: socket('10.0.0.2', 80) } },
      request: {
        http: {
          method: 'POST',
          path: '/a/b?x=1',
          host: 'shop.test:8080',
          scheme: 'http',
          query: '',
          protocol: 'HTTP/1.1',
        },
      },
    })
    expect(attributes?.request?.http?.id).toMatch(/^[0-9a-f]{32}$/)
    expect({ ...attributes?.request?.http?.headers }).toEqual(
      Object.fromEntries([
        [':method', 'POST'],
        [':scheme', 'http'],
        [':authority', 'shop.test:8080'],
        [':path', '/a/b?x=1'],
        ['accept', 'text/html, */*'],
        ['cookie', 'a=1; b=2'],
        ['x-name', 'Jürgen'],
        ['__proto__', 'p'],
      ]),
    )
    expect(attributes?.tlsSession).toBeUndefined()
    expect(attributes?.request?.http).toMatchObject({ size: 0n, body: '' })
  })

  it('names the client by its verified SPIFFE id', async () => {
    const { certificate } = certificateFor({ commonName: 'client', names: ['URI:spiffe://td/ns/a/sa/b'] })
    const { connection, request, startMs } = exchangeOf()
    const peer = new PeerCertificate(new X509Certificate(certificate))
    const { attributes } = await asked(new Exchange({ ...connection, peer }, request, startMs))
    expect(attributes?.source?.principal).toBe('spiffe://td/ns/a/sa/b')
  })

  it('contains only headers on the list, if there is one', async () => {
    const { attributes } = await asked(exchangeOf(REQUEST), { allowedRequestHeaders: ['accept', ':path'] })
    expect({ ...attributes?.request?.http?.headers }).toEqual({ accept: 'text/html, */*', ':path': '/a/b?x=1' })
  })

  it("contains the id of the request's trace", async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { attributes } = await asked(exchangeOf({ headers: [['traceparent', traceparent]] }))
    expect(attributes?.request?.http?.id).toBe('0af7651916cd43dd8448eb211c80319c')
  })

  it.each([
    ['text', Buffer.from('hällo'), false, 'hällo', ''],
    ['text as bytes', Buffer.from('hällo'), true, '', 'hällo'],
    ['bytes that are not text', Buffer.from([0xff, 0xfe]), false, '', Buffer.from([0xff, 0xfe]).toString()],
    ['nothing', Buffer.alloc(0), false, '', ''],
  ])('carries %s', async (_, bytes, packAsBytes, body, rawBody) => {
    const { attributes } = await asked(exchangeOf(), { forwardBody: { bytesMax: 9, packAsBytes } }, bytes)
    const http = attributes?.request?.http
    expect(http).toMatchObject({ size: BigInt(bytes.length), body })
    expect(Buffer.from(http?.rawBody ?? '').toString()).toBe(rawBody)
  })

  it('carries context, and claims of a verified token without the token', async () => {
    const exchange = exchangeOf()
    setAttribute(exchange, 'jwt', { sub: 'ann', level: 3n, rawToken: new SecretString('secret-token') })
    const { attributes } = await asked(exchange, { grpc: { contextExtensions: { tenant: 'a' } } })
    expect(attributes?.contextExtensions).toEqual({ tenant: 'a' })
    expect(attributes?.metadataContext?.filterMetadata).toEqual({
      'envoy.filters.http.jwt_authn': { jwt_payload: { sub: 'ann', level: 3 } },
    })
    expect((await asked(exchangeOf())).attributes?.metadataContext?.filterMetadata).toEqual({})
  })

  it('carries metadata of expressions; a result that is not a map is ignored', async () => {
    const requestMetadata = [
      { name: 'ns.a', expression: '{"path": request.path, "n": [1, 2.5, true, null]}' },
      { name: 'ns.b', expression: '"text"' },
      { name: 'ns.c', expression: 'request.headers["missing"]' },
    ]
    const { attributes } = await asked(exchangeOf(REQUEST), { grpc: { requestMetadata } })
    expect(attributes?.metadataContext?.filterMetadata).toEqual({ 'ns.a': { path: '/a/b', n: [1, 2.5, true, null] } })
  })
})

const response = (init: MessageInitShape<typeof CheckResponseSchema>): CheckResponse =>
  create(CheckResponseSchema, init)

function applied(init: MessageInitShape<typeof CheckResponseSchema>, parts: ExchangeParts = {}): Exchange {
  const exchange = exchangeOf(parts)
  const verdict = applyDecision(exchange, decisionOf(response(init)))
  if (verdict !== undefined) exchange.response = verdict
  return exchange
}

type OkInit = Extract<MessageInitShape<typeof CheckResponseSchema>['httpResponse'], { case: 'okResponse' }>['value']
const ok = (value: OkInit) => ({ httpResponse: { case: 'okResponse' as const, value } })

describe('an allowing response', () => {
  it('requires only status 0, or no status', () => {
    for (const init of [{}, { status: { code: 0 } }]) expect(applied(init).response).toBeUndefined()
  })

  it.each([
    ['default', {}, ['x-a: new']],
    ['append true', { append: true }, ['x-a: old', 'x-a: new']],
    ['append false', { append: false }, ['x-a: new']],
    ['add if absent', { appendAction: 1 as const }, ['x-a: old']],
    ['overwrite if exists or add', { appendAction: 2 as const }, ['x-a: new']],
    ['overwrite if exists', { appendAction: 3 as const }, ['x-a: new']],
  ])('sets an existing header by action %s', (_, action, expected) => {
    const init = ok({ headers: [{ header: { key: 'X-A', value: 'new' }, ...action }] })
    expect(fieldsOf(applied(init, { headers: [['x-a', 'old']] }).request.headers)).toEqual(expected)
  })

  it.each([
    ['default', {}, ['x-a: new']],
    ['append true', { append: true }, ['x-a: new']],
    ['add if absent', { appendAction: 1 as const }, ['x-a: new']],
    ['overwrite if exists', { appendAction: 3 as const }, []],
  ])('sets a missing header by action %s', (_, action, expected) => {
    const init = ok({ headers: [{ header: { key: 'x-a', value: 'new' }, ...action }] })
    expect(fieldsOf(applied(init).request.headers)).toEqual(expected)
  })

  it('cannot break the message or keep an invalid header of the client', () => {
    const header = (key: string, value: string) => ({ header: { key, value } })
    const init = ok({
      headers: [
        header('x-user', 'a\r\nx-admin: 1'),
        header('x-empty', ''),
        header('x-ä', '1'),
        header('content-length', '9'),
        header('transfer-encoding', 'chunked'),
        header('x-text', 'Jürgen'),
      ],
    })
    const { request } = applied(init, {
      headers: [
        ['x-user', 'admin'],
        ['x-empty', 'admin'],
      ],
    })
    expect(fieldsOf(request.headers)).toEqual(['x-empty: ', `x-text: ${Buffer.from('Jürgen').toString('latin1')}`])
  })

  it('changes path, host and method only to valid values', () => {
    const header = (key: string, value: string) => ({ header: { key, value } })
    const { request } = applied(
      ok({ headers: [header(':path', '/new?y=2'), header('host', 'other.test'), header(':method', 'CONNECT')] }),
    )
    expect(request).toMatchObject({ path: '/new', query: 'y=2', host: 'other.test', method: 'GET' })
    expect(applied(ok({ headers: [header(':path', 'no path')] })).request.path).toBe('/')
  })

  it('removes headers, but neither pseudo-headers nor host', () => {
    const { request } = applied(ok({ headersToRemove: ['X-A', ':path', 'host'] }), { headers: [['x-a', '1']] })
    expect(request).toMatchObject({ path: '/', host: 'example.com', headers: { fields: [] } })
  })

  it('changes the query', () => {
    const init = ok({ queryParametersToSet: [{ key: 'b', value: 'x y&z' }], queryParametersToRemove: ['a', 'none'] })
    expect(applied(init, { query: 'a=1&b=2&c=3&%61=4&b=5' }).request.query).toBe('c=3&b=x%20y%26z')
    expect(applied(init, { query: '' }).request.query).toBe('b=x%20y%26z')
  })

  it('queues headers for the response and sets CEL extauthz', () => {
    const exchange = applied({
      ...ok({ responseHeadersToAdd: [{ header: { key: 'X-R', value: '1' } }] }),
      dynamicMetadata: { user: 'ann', roles: ['a'], level: 3 },
    })
    expect(queuedOf(exchange)).toEqual(['x-r: 1'])
    expect(
      expression('extauthz.user + string(extauthz.level) + extauthz.roles[0]').evaluate({
        extauthz: exchange.attributes?.['extauthz'],
      }),
    ).toBe('ann3a')
  })
})

describe('a rejecting response', () => {
  const denied = (value: object) => ({ status: { code: 7 }, httpResponse: { case: 'deniedResponse' as const, value } })

  it('without a response is 403', () => {
    const { response: answer, reason } = applied({ status: { code: 16 } })
    expect(answer).toMatchObject({ status: 403, body: 'external authorization failed' })
    expect(reason).toBe('ExtAuth')
  })

  it('rejects even if an allowing response is next to the status', () => {
    expect(applied({ status: { code: 7 }, ...ok({}) }).response?.status).toBe(403)
  })

  it.each([
    [undefined, 403],
    [0, 403],
    [401, 401],
    [302, 302],
    [99, 403],
    [700, 403],
  ])('with HTTP status %s is %i', (code, expected) => {
    expect(applied(denied(code === undefined ? {} : { status: { code } })).response?.status).toBe(expected)
  })

  it('sets its headers and body', () => {
    const headers = [
      { header: { key: 'Location', value: '/login' } },
      { header: { key: 'set-cookie', value: 'a=1' }, append: true },
      { header: { key: 'set-cookie', value: 'b=2' }, append: true },
    ]
    const { response: answer } = applied(denied({ status: { code: 302 }, headers, body: 'go there' }))
    expect(fieldsOf(answer?.headers ?? exchangeOf().request.headers)).toEqual([
      'location: /login',
      'set-cookie: a=1',
      'set-cookie: b=2',
      'content-type: text/plain',
    ])
    expect(textOf(answer?.body)).toBe('go there')
  })

  it('returns a gRPC status to gRPC clients', () => {
    const init = denied({ status: { code: 401 }, body: 'no token' })
    const { response: answer } = applied(init, { headers: [['content-type', 'application/grpc']] })
    expect(answer?.status).toBe(200)
    expect(answer?.headers.get('grpc-status')).toBe('16')
    expect(answer?.headers.get('grpc-message')).toBe('no%20token')
  })
})
