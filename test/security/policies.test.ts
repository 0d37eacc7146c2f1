// Attacks on the policies of a whole gateway: invalid credentials, origins that look like others, headers that only a
// service may set, copies and redirects. Tables of each policy are beside its code; docs/security.md lists the classes.
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Echo } from '../conformance/suite/echo.ts'
import { applySample, type SampleGateway } from '../conformance/suite/gateway.ts'
import { startSampleProxy, type SampleProxy } from '../conformance/suite/process.ts'
import { startUpstreams, type Upstreams } from '../conformance/suite/upstreams.ts'
import { until } from '../wait.ts'
import { policyManifests } from './policy-manifests.ts'

const ISSUER = 'https://issuer.test'
const KID = 'the-key'
const CRLF = '\r\n'
const HOUR = 3600

const folder = mkdtempSync(join(tmpdir(), 'gw-policies-'))
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = keys.publicKey.export({ format: 'jwk' })
let upstreams: Upstreams
let proxy: SampleProxy
let gateway: SampleGateway
/** Receives the copies, and the requests of /once, which it never answers. */
let recorder: Server
const received: IncomingMessage[] = []

beforeAll(async () => {
  recorder = createServer((request, response) => {
    received.push(request)
    if (request.method === 'POST') request.socket.destroy()
    else response.end('recorded')
  }).listen(0, '127.0.0.1')
  await once(recorder, 'listening')
  upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  proxy = await startSampleProxy()
  const { port } = recorder.address() as AddressInfo // of a TCP server that listens
  const jwks = JSON.stringify({ keys: [{ ...jwk, kid: KID }] })
  const text = policyManifests({ issuer: ISSUER, jwks, recorderPort: port })
  gateway = await applySample({ sample: 'csrf.yaml', upstreams, on: proxy, change: () => text })
})

afterAll(async () => {
  await proxy.stop()
  await upstreams.stop()
  recorder.close()
  recorder.closeAllConnections()
  rmSync(folder, { recursive: true })
})

interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly text: string
}

/** `fields`: in the form of the wire, so that names may occur twice. */
async function raw(line: string, fields: readonly string[] = [], body = ''): Promise<RawAnswer> {
  const socket = connect(gateway.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const host = fields.some((field) => field.startsWith('host:')) ? [] : ['host: a.test']
  socket.write([`${line} HTTP/1.1`, ...host, ...fields, ...length, 'connection: close', '', body].join(CRLF), 'latin1')
  await once(socket, 'close')
  const answer = Buffer.concat(chunks).toString('latin1')
  const end = answer.indexOf(`${CRLF}${CRLF}`)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
  return { status, head: answer.slice(0, end).toLowerCase(), text: answer.slice(end + 4) }
}

function echoOf({ text }: RawAnswer): Echo {
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo // the echo server writes it
}

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const CLAIMS = { iss: ISSUER, aud: 'shop', sub: 'ann', exp: Math.floor(Date.now() / 1000) + HOUR }
const HEADER = { alg: 'ES256', kid: KID }

interface Forged {
  readonly header?: object
  readonly claims?: unknown
  readonly key?: KeyObject
  readonly encoding?: 'der' | 'ieee-p1363'
}

function token({ header = {}, claims = CLAIMS, key = keys.privateKey, encoding = 'ieee-p1363' }: Forged = {}): string {
  const signed = `${encoded({ ...HEADER, ...header })}.${encoded(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: encoding }).toString('base64url')}`
}

function macToken(secret: string, header: object = {}): string {
  const signed = `${encoded({ ...HEADER, alg: 'HS256', ...header })}.${encoded(CLAIMS)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

const PEM = createPublicKey(keys.publicKey.export({ type: 'spki', format: 'pem' })).export({
  type: 'spki',
  format: 'pem',
})
const FOREIGN_JWK = foreign.publicKey.export({ format: 'jwk' })
const unsigned = (header: object): string => `${encoded({ ...HEADER, ...header })}.${encoded(CLAIMS)}.`
const [HEAD_PART = '', CLAIMS_PART = '', SIGNATURE = ''] = token().split('.')

describe('a token', () => {
  it('that is valid passes, and is not forwarded', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await raw('GET /jwt', [`authorization: ${scheme} ${token()}`])
      expect(answer.status).toBe(200)
      expect(echoOf(answer).headers).not.toHaveProperty('authorization')
    }
    expect(
      (await raw('GET /jwt', [`authorization: Bearer ${token({ claims: { ...CLAIMS, aud: ['x', 'shop'] } })}`])).status,
    ).toBe(200)
  })

  it.each<[string, string]>([
    ['alg none', unsigned({ alg: 'none' })],
    ['alg NonE with a signature', `${unsigned({ alg: 'NonE' })}${SIGNATURE}`],
    ['no alg', `${unsigned({ alg: undefined })}${SIGNATURE}`],
    ['HMAC with the public key as PEM', macToken(String(PEM))],
    ['HMAC with the key set', macToken(JSON.stringify(jwk))],
    ['HMAC with nothing', macToken('')],
    ['another algorithm of the family', `${unsigned({ alg: 'ES384' })}${SIGNATURE}`],
    ['its own key in the header', token({ header: { jwk: FOREIGN_JWK }, key: foreign.privateKey })],
    [
      'an address of keys in the header',
      token({ header: { jku: 'http://127.0.0.1:1/keys' }, key: foreign.privateKey }),
    ],
    ['another kid', token({ header: { kid: 'other' } })],
    ['a kid that is a path', token({ header: { kid: '../../dev/null' } })],
    ['a kid of object members', token({ header: { kid: '__proto__' } })],
    ['a kid that is a list', token({ header: { kid: [KID] } })],
    ['no kid', token({ header: { kid: undefined } })],
    ['crit with an unknown name', token({ header: { crit: ['exp'], exp: CLAIMS.exp } })],
    ['crit without the named field', token({ header: { crit: ['b64'] } })],
    ['a payload that is not encoded', token({ header: { crit: ['b64'], b64: false } })],
    ['an empty crit', token({ header: { crit: [] } })],
    ['a nested token', token({ header: { cty: 'JWT' }, claims: token() })],
    ['claims that are a list', token({ claims: [CLAIMS] })],
    ['another issuer', token({ claims: { ...CLAIMS, iss: `${ISSUER}.evil` } })],
    ['a list of issuers', token({ claims: { ...CLAIMS, iss: [ISSUER] } })],
    [
      'two issuers, the good one first',
      token({ claims: `{"iss":"${ISSUER}",${JSON.stringify({ ...CLAIMS, iss: 'evil' }).slice(1)}` }),
    ],
    ['another audience', token({ claims: { ...CLAIMS, aud: 'shopping' } })],
    ['an audience that is an object', token({ claims: { ...CLAIMS, aud: { shop: 'shop' } } })],
    ['no audience', token({ claims: { ...CLAIMS, aud: undefined } })],
    ['an end in the past', token({ claims: { ...CLAIMS, exp: CLAIMS.exp - 2 * HOUR } })],
    ['an end that is a string', token({ claims: { ...CLAIMS, exp: String(CLAIMS.exp) } })],
    ['an end that is negative', token({ claims: { ...CLAIMS, exp: -1 } })],
    ['no end', token({ claims: { ...CLAIMS, exp: undefined } })],
    ['a begin in the future', token({ claims: { ...CLAIMS, nbf: CLAIMS.exp } })],
    ['a signature of another key', token({ key: foreign.privateKey })],
    ['a signature in DER', token({ encoding: 'der' })],
    ['a signature of zeros', `${HEAD_PART}.${CLAIMS_PART}.${Buffer.alloc(64).toString('base64url')}`],
    ['no signature', `${HEAD_PART}.${CLAIMS_PART}.`],
    ['half a signature', `${HEAD_PART}.${CLAIMS_PART}.${SIGNATURE.slice(0, 43)}`],
    ['a longer signature', `${HEAD_PART}.${CLAIMS_PART}.${SIGNATURE}AAAA`],
    ['a fourth part', `${HEAD_PART}.${CLAIMS_PART}.${SIGNATURE}.${SIGNATURE}`],
    ['padding', `${HEAD_PART}.${CLAIMS_PART}.${SIGNATURE}==`],
    ['another token after a comma', `${token()}, Bearer ${token()}`],
    ['a blank inside', `${HEAD_PART}. ${CLAIMS_PART}.${SIGNATURE}`],
    ['changed claims', `${HEAD_PART}.${encoded({ ...CLAIMS, sub: 'root' })}.${SIGNATURE}`],
    ['a changed header', `${encoded({ ...HEADER, x: 1 })}.${CLAIMS_PART}.${SIGNATURE}`],
    ['very long claims', `${HEAD_PART}.${'A'.repeat(30_000)}.${SIGNATURE}`],
  ])('with %s does not pass', async (_what, text) => {
    expect((await raw('GET /jwt', [`authorization: Bearer ${text}`])).status).toBe(401)
  })

  it('counts only in the first of several fields', async () => {
    const good = `authorization: Bearer ${token()}`
    expect((await raw('GET /jwt', ['authorization: Bearer x.y.z', good])).status).toBe(401)
    const answer = await raw('GET /jwt', [good, 'authorization: Basic eDp5'])
    expect([answer.status, echoOf(answer).headers['authorization']]).toEqual([200, undefined])
  })
})

const basic = (text: string): string => `authorization: Basic ${Buffer.from(text, 'latin1').toString('base64')}`

describe('a password', () => {
  it('that is right passes, and is not forwarded', async () => {
    const answer = await raw('GET /basic', [basic('ann:secret')])
    expect([answer.status, echoOf(answer).headers['authorization']]).toEqual([200, undefined])
  })

  it.each<[string, readonly string[]]>([
    ['wrong', [basic('ann:Secret')]],
    ['empty', [basic('ann:')]],
    ['followed by more', [basic('ann:secret\0')]],
    ['followed by a line', [basic('ann:secret\nbob:secret')]],
    ['of another name', [basic('bob:secret')]],
    ['of no name', [basic(':secret')]],
    ['without a colon', [basic('annsecret')]],
    ['of a name in capitals', [basic('Ann:secret')]],
    ['of object members', [basic('__proto__:secret')]],
    ['behind a wrong one', [basic('ann:wrong'), basic('ann:secret')]],
    ['behind a comma', [`${basic('ann:wrong')}, ${basic('ann:secret').slice('authorization: '.length)}`]],
    ['in other letters', [`authorization: Basic ${Buffer.from('ann:secret').toString('base64').replace(/=*$/, '')}_`]],
    ['its own hash', [basic('ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=')]],
  ])('that is %s does not pass', async (_what, fields) => {
    expect((await raw('GET /basic', fields)).status).toBe(401)
  })
})

describe('an API key', () => {
  it('that is known passes, and is not forwarded', async () => {
    const answer = await raw('GET /keys', ['authorization: Bearer a-key'])
    expect([answer.status, echoOf(answer).headers['authorization']]).toEqual([200, undefined])
  })

  it.each<[string, readonly string[]]>([
    ['a beginning', ['authorization: Bearer a-ke']],
    ['more', ['authorization: Bearer a-keys']],
    ['in capitals', ['authorization: Bearer A-KEY']],
    ['behind an unknown one', ['authorization: Bearer x', 'authorization: Bearer a-key']],
    ['behind a comma', ['authorization: Bearer x, Bearer a-key']],
    ['in a second scheme', ['authorization: Basic a-key']],
    ['without a scheme', ['authorization: a-key']],
    ['in the query', ['x: y']],
    ['its name in the Secret', ['authorization: Bearer one']],
  ])('that is %s does not pass', async (_what, fields) => {
    expect((await raw('GET /keys?authorization=a-key&key=a-key', fields)).status).toBe(401)
  })
})

describe('a page of another site', () => {
  it.each<[string, readonly string[]]>([
    ['a name with the same beginning', ['origin: http://a.test.evil.test']],
    ['a name with the same end', ['origin: http://evil-a.test']],
    ['a user that looks like the host', ['origin: http://a.test@evil.test']],
    ['another scheme', ['origin: https://a.test']],
    ['another port', ['origin: http://a.test:81']],
    ['no origin in a sandbox', ['origin: null']],
    ['an empty origin', ['origin: ']],
    ['a list', ['origin: http://a.test http://evil.test']],
    ['the same site', ['sec-fetch-site: same-site', 'origin: http://a.test']],
    ['words in capitals', ['sec-fetch-site: Same-Origin', 'origin: http://evil.test']],
    ['an unknown word', ['sec-fetch-site: x', 'origin: http://evil.test']],
  ])('cannot change anything by %s', async (_what, fields) => {
    expect((await raw('POST /csrf', fields, 'x')).status).toBe(403)
  })

  it('the site itself and clients other than browsers can', async () => {
    expect((await raw('POST /csrf', ['origin: http://a.test'], 'x')).status).toBe(200)
    expect((await raw('POST /csrf', [], 'x')).status).toBe(200)
  })

  it.each([
    'https://shop.test.evil.test',
    'https://evilshop.test',
    'https://.shop.test.evil.test',
    'http://a.shop.test',
    'https://a.shop.test:444',
    'https://evil.test/.shop.test',
    'https://evil.test#.shop.test',
    'https://evil.test\\.shop.test',
    'https://evil.test?.shop.test',
    'https://a.shop.test@evil.test',
    'https://one.test.evil.test',
    'https://one.test, https://evil.test',
    'null',
    '*',
    'https://*.shop.test',
  ])('%s does not get the allowed origins', async (origin) => {
    const fields = [`origin: ${origin}`, 'access-control-request-method: DELETE']
    for (const line of ['OPTIONS /cors', 'GET /cors']) {
      const { status, head } = await raw(line, fields)
      expect(status).toBe(200)
      expect(head).not.toMatch(/^access-control-/m)
    }
  })

  it.each(['https://a.shop.test', 'https://one.test', 'https://ONE.test:443'])('%s is', async (origin) => {
    const { head } = await raw('GET /cors', [`origin: ${origin}`])
    expect(head).toContain(`access-control-allow-origin: ${origin.toLowerCase()}${CRLF}`)
  })
})

describe('a rule about headers and hosts', () => {
  it.each<[string, readonly string[]]>([
    ['without a trick', ['x-role: guest']],
    ['twice', ['x-role: guest', 'x-role: guest']],
    ['beside another', ['x-role: user', 'x-role: guest']],
    ['with an upper-case name', ['X-ROLE: guest']],
    ['with blanks around it', ['x-role: \t guest \t']],
  ])('is not bypassed by a header %s', async (_what, fields) => {
    expect((await raw('GET /roles', fields)).status).toBe(403)
  })

  it.each<[string, string, number]>([
    ['with a port', 'host: admin.test:1234', 403],
    ['with a trailing dot', 'host: admin.test.', 403],
    ['with a trailing dot and a port', 'host: ADMIN.test.:8080', 403],
    ['with zeros before the port', 'host: admin.test:080', 400],
    ['with an escape', 'host: admin%2etest', 400],
  ])('is not bypassed by a host %s', async (_what, host, status) => {
    expect((await raw('GET /roles', [host])).status).toBe(status)
  })
})

describe('an authorization service', () => {
  const ALICE = 'authorization: Bearer alice-token'

  it.each<[string, readonly string[]]>([
    ['before', ['x-user: root', ALICE]],
    ['behind', [ALICE, 'x-user: root']],
    ['twice', [ALICE, 'x-user: root', 'X-User: root']],
  ])('alone sets its headers: %s', async (_what, fields) => {
    const { headers } = echoOf(await raw('GET /asked', [...fields, 'x-team: owners']))
    expect(headers['x-user']).toBe('alice')
    expect(headers).not.toHaveProperty('x-team')
  })

  it('is not bypassed by headers of its response, nor by unusual methods', async () => {
    const forged = ['x-user: alice', 'x-envoy-auth-partial-body: true', 'x-ext-authz: ok', 'x-answer: 200']
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'])
      expect((await raw(`${method} /asked`, forged)).status).toBe(401)
  })
})

describe('a copy of a request', () => {
  it('has neither removed credentials nor the credentials of the backend', async () => {
    received.length = 0
    const answer = await raw('GET /mirrored?key=a-key&x=1', ['x-mine: 1'])
    expect([answer.status, echoOf(answer).headers['authorization']]).toEqual([200, 'Bearer backend-key'])
    await until('the copy has come', () => received.length > 0)
    const [copy] = received
    expect([copy?.url, copy?.headers['x-mine'], copy?.headers.authorization]).toEqual(['/mirrored?x=1', '1', undefined])
  })
})

describe('an unsafe request', () => {
  it('is sent once, even if its connection fails', async () => {
    // One after the other, so that the second one uses the connection of the first one.
    const first = ['GET /once HTTP/1.1', 'host: a.test', '', ''].join(CRLF)
    received.length = 0
    expect((await raw(`${first}POST /once`, ['content-length: 0'])).text).toMatch(/HTTP\/1\.1 503 /)
    expect(received.map(({ method }) => method)).toEqual(['GET', 'POST'])
    expect(received[0]?.socket).toBe(received[1]?.socket)
  })
})

describe('a redirect', () => {
  it.each([
    ['//evil.test/x', 'https://a.test//evil.test/x'],
    ['/redirect//evil.test', 'https://a.test/redirect//evil.test'],
    ['/redirect/@evil.test', 'https://a.test/redirect/@evil.test'],
    ['/redirect?u=%0d%0aset-cookie:a=b', 'https://a.test/redirect?u=%0d%0aset-cookie:a=b'],
    ['/redirect\\evil.test', 'https://a.test/redirect/evil.test'],
  ])('of %s stays on its host', async (path, location) => {
    const { status, head } = await raw(`GET ${path}`, ['x-forwarded-host: evil.test'])
    expect(status).toBe(302)
    expect(head.split(CRLF)).toContain(`location: ${location}`)
    expect(head).not.toMatch(/^set-cookie/m)
  })
})
