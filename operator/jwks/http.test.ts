// One fetch over real sockets: bounds, TLS as policies ask for it, tunnels, and addresses that are never asked.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { Effect } from 'effect'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ADMITTED_ADDRESSES, DENIED_ADDRESSES } from '#api/net/address-table.testing.ts'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { type JwksRequest, requestTo } from '../translate/policy/jwks-request.ts'
import { type JwksTls, tlsOf } from '../translate/policy/jwks-tls.ts'
import { checkUnresolved, clusterRule, localRule } from './address-rule.ts'
import type { JwksAnswer } from './exchange.ts'
import { JwksHttp } from './http.ts'

const KEYS = '{"keys":[]}'

let ca: KeyPair
let server: KeyPair
let client: KeyPair
const closing: (() => void)[] = []

beforeAll(() => {
  ca = authority()
  server = certificateFor({ commonName: 'idp', names: ['DNS:idp.test', 'URI:spiffe://td/idp'], issuer: ca })
  client = certificateFor({ commonName: 'operator', issuer: ca })
})

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function opened(one: Server): Promise<number> {
  one.listen(0, '127.0.0.1')
  await once(one, 'listening')
  closing.push(() => {
    one.close()
    one.closeAllConnections()
  })
  return (one.address() as AddressInfo).port // a listening TCP server has one
}

const answering: RequestListener = (_request, response) => response.end(KEYS)
const plain = (listener: RequestListener = answering): Promise<number> => opened(createServer(listener))
const secure = (options: Parameters<typeof createTlsServer>[0] = {}): Promise<number> =>
  opened(createTlsServer({ cert: server.certificate, key: server.privateKey, ...options }, answering))

type Parts = Partial<Omit<JwksRequest, 'key' | 'url' | 'place' | 'tls'>> & { tls?: Omit<JwksTls, 'fingerprint'> }

function to(port: number, { tls, ...parts }: Parts = {}): JwksRequest {
  const place = { host: '127.0.0.1', port }
  return requestTo({ place, path: '/keys', ...parts, ...(tls !== undefined && { tls: tlsOf(tls) }) })
}

/** The answer, or why there is none. */
function get(request: JwksRequest, rule = localRule): Promise<JwksAnswer | string> {
  return Effect.flatMap(JwksHttp, (http) => http.get(request)).pipe(
    Effect.catch(({ detail }) => Effect.succeed(detail)),
    Effect.provide(JwksHttp.layer(rule)),
    Effect.runPromise,
  )
}

describe('answers', () => {
  it('requests exactly the path, on a connection of its own', async () => {
    const seen: unknown[] = []
    const port = await plain(({ url, method, headers }, response) => {
      seen.push([method, url, headers.host, headers.connection, headers.authorization])
      response.setHeader('cache-control', 'max-age=90').end(KEYS)
    })
    const path = '/a b/ü?x=%20&y=1#z'
    expect(await get(to(port, { path }))).toEqual({ text: KEYS, cacheControl: 'max-age=90', expires: undefined })
    expect(seen).toEqual([['GET', '/a%20b/%C3%BC?x=%20&y=1%23z', `127.0.0.1:${port}`, 'close', undefined]])
  })

  it.each([
    [404, 'status 404'],
    [204, 'status 204'],
    [302, 'status 302; redirects are not followed'],
  ])('rejects a response with status %i', async (status, detail) => {
    let asked = 0
    const port = await plain((_request, response) => {
      asked++
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    expect(await get(to(port))).toBe(detail)
    expect(asked).toBe(1)
  })

  it.each([
    [1024 * 1024, true],
    [1024 * 1024 + 1, false],
  ])('%i bytes', async (size, isTaken) => {
    const port = await plain((_request, response) => response.end('x'.repeat(size)))
    const answer = await get(to(port))
    expect(typeof answer).toBe(isTaken ? 'object' : 'string')
    if (!isTaken) expect(answer).toBe('the response is larger than 1048576 bytes')
  })

  it('rejects an incomplete response', async () => {
    const port = await plain((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"keys"', () => response.destroy())
    })
    expect(await get(to(port))).toEqual(expect.stringMatching(/aborted|ended early|closed|hang up/))
  })

  it('interruption closes the connection', async () => {
    const waiting = Promise.withResolvers<Socket>()
    const one = createTcpServer((socket) => waiting.resolve(socket.on('error', () => {})))
    one.listen(0, '127.0.0.1')
    await once(one, 'listening')
    closing.push(() => one.close())
    const { port } = one.address() as AddressInfo // a listening TCP server has one
    const asking = Effect.flatMap(JwksHttp, (http) => http.get(to(port))).pipe(
      Effect.provide(JwksHttp.layer(localRule)),
    )
    const controller = new AbortController()
    const running = Effect.runPromise(asking, { signal: controller.signal }).catch(() => 'interrupted')
    const socket = await waiting.promise
    controller.abort()
    socket.resume()
    await once(socket, 'close')
    expect(await running).toBe('interrupted')
  })
})

describe('TLS', () => {
  it('verifies authority and name', async () => {
    const port = await secure()
    const caCertificates = ca.certificate
    expect(await get(to(port, { tls: { caCertificates, serverName: 'idp.test' } }))).toMatchObject({ text: KEYS })
    expect(await get(to(port, { tls: { serverName: 'idp.test' } }))).toMatch(/unable to|self.signed|verify/)
    expect(await get(to(port, { tls: { caCertificates, serverName: 'other.test' } }))).toMatch(/not in the cert/)
    expect(await get(to(port, { tls: { caCertificates } }))).toMatch(/does not match|not in the cert/)
    expect(await get(to(port))).toEqual(expect.any(String))
  })

  it('can verify other names than the host, and skip checks', async () => {
    const port = await secure()
    const caCertificates = ca.certificate
    const named = (name: string) => get(to(port, { tls: { caCertificates, verifySubjectAltNames: [name] } }))
    expect(await named('spiffe://td/idp')).toMatchObject({ text: KEYS })
    expect(await named('spiffe://td/other')).toMatch(/has none of the names/)
    expect(await get(to(port, { tls: { insecureSkipVerify: 'All' } }))).toMatchObject({ text: KEYS })
    const anyName = { insecureSkipVerify: 'Hostname' as const }
    expect(await get(to(port, { tls: { caCertificates, ...anyName } }))).toMatchObject({ text: KEYS })
    expect(await get(to(port, { tls: anyName }))).toMatch(/unable to|self.signed|verify/)
  })

  it('shows the client certificate', async () => {
    const port = await secure({ requestCert: true, rejectUnauthorized: true, ca: ca.certificate })
    const tls = { caCertificates: ca.certificate, serverName: 'idp.test' }
    const own = { clientCertificate: client.certificate, clientKey: client.privateKey }
    expect(await get(to(port, { tls: { ...tls, ...own } }))).toMatchObject({ text: KEYS })
    expect(await get(to(port, { tls }))).toEqual(expect.any(String))
  })
})

describe('tunnels', () => {
  async function proxy(status = 200, isSecure = false): Promise<{ port: number; asked: string[] }> {
    const asked: string[] = []
    const options = { cert: server.certificate, key: server.privateKey }
    const one = isSecure ? createTlsServer(options) : createServer()
    one.on('request', ({ url = '' }: IncomingMessage, response: ServerResponse) => {
      asked.push(url)
      response.writeHead(status).end(KEYS)
    })
    one.on('connect', ({ url = '' }: { url?: string }, socket: Socket) => {
      asked.push(url)
      socket.write(`HTTP/1.1 ${status} x\r\n\r\n`)
      if (status !== 200) return socket.end()
      const [, port] = url.split(':')
      const onward = connect(Number(port), '127.0.0.1')
      for (const end of [socket, onward]) end.on('error', () => {})
      return socket.pipe(onward).pipe(socket)
    })
    return { port: await opened(one), asked }
  }

  it('by CONNECT, with the TLS of the server inside', async () => {
    const { port, asked } = await proxy()
    const at = await secure()
    const tls = { caCertificates: ca.certificate, serverName: 'idp.test' }
    expect(await get(to(at, { tls, proxy: { place: { host: '127.0.0.1', port } } }))).toMatchObject({ text: KEYS })
    expect(asked).toEqual([`127.0.0.1:${at}`])
  })

  it('over TLS of its own; plain HTTP with an absolute URI', async () => {
    const { port, asked } = await proxy(200, true)
    const tls = tlsOf({ caCertificates: ca.certificate, serverName: 'idp.test' })
    const at = await plain()
    expect(await get(to(at, { proxy: { place: { host: '127.0.0.1', port }, tls } }))).toMatchObject({ text: KEYS })
    expect(await get(to(at, { proxy: { place: { host: '127.0.0.1', port } } }))).toEqual(expect.any(String))
    expect(asked).toEqual([`http://127.0.0.1:${at}/keys`])
  })

  it.each([407, 204])('a proxy that answers %s', async (status) => {
    const { port } = await proxy(status)
    const by = { proxy: { place: { host: '127.0.0.1', port } } }
    expect(await get(to(await plain(), by))).toBe(`status ${status}`)
    const tls = { caCertificates: ca.certificate, serverName: 'idp.test' }
    expect(await get(to(await secure(), { tls, ...by }))).toBe(`the proxy rejected the tunnel with ${status}`)
  })
})

describe('addresses', () => {
  it.each(DENIED_ADDRESSES)('denies a key set at %s', (address) => {
    expect(clusterRule([]).admits(address)).toBe(false)
    expect(() => checkUnresolved(address, clusterRule([]))).toThrow(`address ${address} is not allowed for key sets`)
  })

  it.each(ADMITTED_ADDRESSES)('admits %s', (address) => {
    expect([clusterRule([]).admits(address), localRule.admits(address)]).toEqual([true, true])
  })

  it('a local process also connects to loopback addresses, and to no other denied address', () => {
    const loopback = ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::1%lo']
    const mapped = ['::ffff:127.0.0.1', '::ffff:7f00:1']
    expect(DENIED_ADDRESSES.filter(localRule.admits)).toEqual([...loopback, ...mapped])
  })

  it('rejects a denied address and a name for it alike, and sends no request', async () => {
    let asked = 0
    const port = await plain((_request, response) => {
      asked++
      response.end(KEYS)
    })
    const named = requestTo({ place: { host: 'localhost', port }, path: '/keys' })
    const cluster = clusterRule([])
    const cure = 'is not allowed for key sets; allow it with GW_KEY_SET_ALLOW_ADDRESSES'
    expect(await get(to(port), cluster)).toBe(`address 127.0.0.1 ${cure}`)
    expect(await get(named, cluster)).toMatch(new RegExp(`^address [0-9.:, ]+ of localhost ${cure}$`))
    const far = { place: { host: 'idp.example', port }, path: '/keys' }
    const byProxy = { proxy: { place: { host: '127.0.0.1', port } } }
    expect(await get(requestTo({ ...far, ...byProxy }), cluster)).toBe(`address 127.0.0.1 ${cure}`)
    // The proxy would resolve the name.
    const open = clusterRule(['127.0.0.1'])
    for (const host of ['169.254.169.254', 'metadata.google.internal', '0x7f.2']) {
      const through = requestTo({ ...far, place: { host, port }, ...byProxy })
      expect(await get(through, open)).toBe(`address ${host} ${cure}`)
    }
    expect(asked).toBe(0)
    expect(await get(to(port), open)).toMatchObject({ text: KEYS })
    expect(await get(named)).toMatchObject({ text: KEYS })
  })
})
