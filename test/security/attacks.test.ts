// Attacks on a whole gateway: the bytes of a client, the rules that they try to bypass, and the requests that reach a
// backend. docs/security.md lists the classes, and the detailed tests beside the code.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Echo } from '../conformance/suite/echo.ts'
import { applySample, type SampleGateway } from '../conformance/suite/gateway.ts'
import { startSampleProxy, type SampleProxy } from '../conformance/suite/process.ts'
import { startUpstreams, type Upstreams } from '../conformance/suite/upstreams.ts'

const ECHO_PORT = 18_081
const CRLF = '\r\n'

const folder = mkdtempSync(join(tmpdir(), 'gw-security-'))
let upstreams: Upstreams
let proxy: SampleProxy
let gateway: SampleGateway

beforeAll(async () => {
  upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  proxy = await startSampleProxy()
  gateway = await applySample({ sample: 'csrf.yaml', upstreams, on: proxy, change: () => manifests() })
})

afterAll(async () => {
  await proxy.stop()
  await upstreams.stop()
  rmSync(folder, { recursive: true })
})

/**
 * Requests one after the other on one connection, the last one with `connection: close`: returns all bytes of the
 * responses.
 */
async function raw(...requests: readonly string[]): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(requests.join(''), 'latin1')
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

function request(line: string, fields: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, ...fields, 'connection: close', '', body].join(CRLF)
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}

function echoOf(answer: string): Echo {
  const text = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)
  return JSON.parse(text) as Echo // test/conformance/suite/echo.ts writes it
}

describe('a rule on host and path', () => {
  it.each([
    ['without a trick', request('GET /admin/keys', ['host: admin.test'])],
    ['with the default port', request('GET /admin', ['host: admin.test:80'])],
    ['in upper case', request('GET /admin', ['host: ADMIN.test'])],
    ['with a trailing dot', request('GET /admin', ['host: admin.test.'])],
    ['in absolute form', request('GET http://admin.test/admin', ['host: admin.test'])],
    ['in absolute form with a port', request('GET http://Admin.Test:80/admin', ['host: admin.test'])],
    ['with escapes', request('GET /%61dmin', ['host: admin.test'])],
    ['with dot segments', request('GET /open/../admin', ['host: admin.test'])],
    ['with escaped dot segments', request('GET /open/%2e%2e/admin', ['host: admin.test'])],
    ['with backslashes', request('GET /open\\..\\admin', ['host: admin.test'])],
    ['with a single dot', request('GET /./admin', ['host: admin.test'])],
    ['by another method', request('HEAD /admin', ['host: admin.test'])],
    ['as a WebSocket', request('GET /admin', ['host: admin.test', 'upgrade: websocket', 'connection: upgrade'])],
  ])('is not bypassed by: %s', async (_how, bytes) => {
    expect(statusOf(await raw(bytes))).toBe(403)
  })

  it.each([
    ['a step hidden behind an escaped slash', request('GET /open/..%2fadmin', ['host: admin.test'])],
    ['a step hidden behind parameters', request('GET /open/..;/admin', ['host: admin.test'])],
    ['another host in the line', request('GET http://open.test/admin', ['host: admin.test'])],
    ['two hosts', request('GET /admin', ['host: open.test', 'host: admin.test'])],
    ['a user in the host', request('GET /admin', ['host: open.test@admin.test'])],
    ['a user in the line', request('GET http://open.test@admin.test/admin', ['host: admin.test'])],
    ['a fragment', request('GET /open#/../admin', ['host: admin.test'])],
  ])('is not bypassed by: %s, an invalid request', async (_how, bytes) => {
    expect(statusOf(await raw(bytes))).toBe(400)
  })

  it('accepts other requests', async () => {
    const answer = await raw(request('GET /open', ['host: admin.test']))
    expect([statusOf(answer), echoOf(answer).path]).toEqual([200, '/open'])
  })
})

describe('a second request inside the first', () => {
  const INNER = `GET /admin HTTP/1.1${CRLF}host: admin.test${CRLF}${CRLF}`
  const CHUNKED = `0${CRLF}${CRLF}${INNER}`

  it.each([
    ['CL.TE', request('POST /open', ['host: a.test', 'content-length: 6', 'transfer-encoding: chunked'], CHUNKED)],
    ['TE.TE', request('POST /open', ['host: a.test', 'transfer-encoding: chunked, identity'], CHUNKED)],
    ['TE with a tab', request('POST /open', ['host: a.test', 'transfer-encoding:\tchunked\v'], CHUNKED)],
    ['CL.CL', request('POST /open', ['host: a.test', 'content-length: 0', 'content-length: 44'], INNER)],
    ['folded', request('POST /open', ['host: a.test', 'x: y', ' transfer-encoding: chunked'], CHUNKED)],
    ['LF alone', request('POST /open', ['host: a.test\nx: y', 'content-length: 0'], INNER)],
    [
      'chunk size over the top',
      request('POST /open', ['host: a.test', 'transfer-encoding: chunked'], `100000000${CRLF}`),
    ],
    [
      'LF within an extension',
      request('POST /open', ['host: a.test', 'transfer-encoding: chunked'], `0;a="\n"${CRLF}${CRLF}${INNER}`),
    ],
  ])('%s: rejected, and nothing after it is processed', async (_how, bytes) => {
    const answer = await raw(bytes)
    expect(answer.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(['HTTP/1.1 400'])
  })

  it('a body with any content stays a body', async () => {
    const fields = ['host: a.test', `content-length: ${INNER.length}`]
    const answer = await raw(request('POST /open', fields, INNER))
    expect(echoOf(answer)).toMatchObject({ method: 'POST', path: '/open', body: INNER })
    const chunks = [INNER.length.toString(16), INNER, '0', '', ''].join(CRLF)
    const other = await raw(request('POST /open', ['host: a.test', 'transfer-encoding: chunked'], chunks))
    expect(echoOf(other)).toMatchObject({ method: 'POST', path: '/open', body: INNER })
  })
})

describe('Connection', () => {
  it.each(['content-length', 'host', 'transfer-encoding', 'cookie', 'x-role'])(
    'that names %s changes neither framing nor fields of the gateway',
    async (name) => {
      const fields = ['host: a.test', `connection: ${name}`, 'content-length: 5', 'x-role: admin', 'cookie: a=b']
      const { headers, body } = echoOf(await raw(request('POST /open', fields, 'hello')))
      expect(body).toBe('hello')
      expect(headers).toMatchObject({ host: 'a.test', 'x-role': 'user' })
    },
  )

  it('cannot remove a credential before it is checked', async () => {
    const fields = ['host: a.test', 'connection: authorization', 'authorization: Bearer a-key']
    expect(statusOf(await raw(request('GET /keys', fields)))).toBe(401)
    expect(statusOf(await raw(request('GET /keys', ['host: a.test', 'authorization: Bearer a-key'])))).toBe(200)
  })

  it('and hop-by-hop fields are not forwarded', async () => {
    const fields = ['te: trailers, gzip', 'keep-alive: 1', 'proxy-connection: x', 'upgrade: h2c', 'x-private: 1']
    const { headers } = echoOf(
      await raw(request('GET /open', ['host: a.test', 'connection: upgrade, x-private', ...fields])),
    )
    expect(headers['te']).toBe('trailers')
    for (const name of ['keep-alive', 'proxy-connection', 'upgrade', 'x-private'])
      expect(headers).not.toHaveProperty(name)
  })
})

describe('values of expressions', () => {
  it.each([
    'a\r\nset-cookie: evil=1',
    'a\nset-cookie: evil=1',
    'a\rset-cookie: evil=1',
    'a\0b',
    'a\u010aset-cookie: e=1',
  ])('%j splits neither the request nor the response', async (value) => {
    const body = JSON.stringify({ value })
    const fields = ['host: a.test', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
    const bytes = Buffer.from(request('POST /expressions', fields, body), 'utf8').toString('latin1')
    const answer = await raw(bytes)
    expect(statusOf(answer)).toBe(200)
    expect(answer).not.toMatch(/^set-cookie:/m)
    const { headers } = echoOf(answer)
    expect(headers).not.toHaveProperty('set-cookie')
  })
})

describe('headers of clients about themselves', () => {
  it('x-forwarded-* and similar ones are forwarded, and trusted by no rule of the gateway', async () => {
    const fields = ['host: a.test', 'x-forwarded-for: 10.9.8.7', 'forwarded: for=10.9.8.7', 'x-real-ip: 10.9.8.7']
    const answer = await raw(request('GET /from', [...fields, 'x-forwarded-host: admin.test']))
    expect(statusOf(answer)).toBe(200)
    expect(echoOf(answer).headers).toMatchObject({ 'x-source': '127.0.0.1', 'x-forwarded-for': '10.9.8.7' })
  })

  it('x-retry-attempt and headers of the endpoint picker have no effect here', async () => {
    const fields = ['host: a.test', 'x-gateway-destination-endpoint: 169.254.169.254:80']
    const answer = await raw(request('GET /open', fields))
    expect([statusOf(answer), echoOf(answer).server]).toEqual([200, 'echo'])
  })
})

function manifests(): string {
  const own = (kind: string, name: string, spec: object) => ({
    apiVersion: 'gw.dev/v1alpha1',
    kind,
    metadata: { name, namespace: 'default' },
    spec,
  })
  const named = (kind: string, name: string, rest: object) => ({
    apiVersion: kind === 'Secret' ? 'v1' : 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name, namespace: 'default' },
    ...rest,
  })
  const policies: Readonly<Record<string, object>> = {
    admin: {
      authorization: {
        action: 'Deny',
        policy: { matchExpressions: ['request.host == "admin.test" && request.path.startsWith("/admin")'] },
      },
    },
    open: { headerModifiers: { request: { set: [{ name: 'x-role', value: 'user' }] } } },
    keys: { apiKeyAuthentication: { secretRef: { name: 'keys' } } },
    expressions: {
      transformation: {
        request: { set: [{ name: 'x-value', value: 'json(request.body).value' }] },
        response: { set: [{ name: 'x-value', value: 'json(request.body).value' }] },
      },
    },
    from: {
      authorization: {
        action: 'Require',
        policy: { matchExpressions: ['source.address == "127.0.0.1" && request.host == "a.test"'] },
      },
      transformation: { request: { set: [{ name: 'x-source', value: 'string(source.address)' }] } },
    },
  }
  const rules = Object.keys(policies).map((name) => ({
    name,
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo' }],
  }))
  const objects = [
    named('GatewayClass', 'gw', { spec: { controllerName: 'gw.dev/controller' } }),
    named('Gateway', 'edge', {
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', hostname: '*.test' }] },
    }),
    named('Secret', 'keys', { stringData: { one: 'a-key' } }),
    named('HTTPRoute', 'all', { spec: { parentRefs: [{ name: 'edge' }], rules } }),
    own('GwBackend', 'echo', { static: { host: '127.0.0.1', port: ECHO_PORT } }),
    ...Object.entries(policies).map(([name, traffic]) =>
      own('GwPolicy', name, {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'all', sectionName: name }],
        traffic,
      }),
    ),
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}
