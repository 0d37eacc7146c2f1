// TLS listeners of a real proxy: which certificate answers, who is let in, and what never happens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ListenerTLS } from '#api/ir/types.gen.ts'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { freePort, listeningUntil } from '#test/ports.ts'
import { until } from '../runtime/config.testing.ts'
import { ask, captureHello, get, shakeHands } from './client.testing.ts'
import { startTlsProxy, type TestListener, type TestSetup, type TlsTestProxy } from './proxy.testing.ts'
import { firstOf } from '#test/run/table.ts'

const ca = authority()
const pairOf = (commonName: string, names: readonly string[]): KeyPair =>
  certificateFor({ commonName, names: names.map((name) => `DNS:${name}`), issuer: ca })

const cleanup: (() => unknown)[] = []
afterAll(async () => {
  for (const each of cleanup) await each()
})

let port: number
let gateway: TlsTestProxy
let setup: TestSetup

beforeAll(async () => {
  port = await freePort()
  const https = (name: string, hostname: string | undefined, rest: Partial<TestListener> = {}): TestListener => ({
    name,
    port,
    protocol: 'HTTPS',
    ...(hostname !== undefined && { hostname }),
    pair: pairOf(name, [hostname ?? 'any.example']),
    ...rest,
  })
  setup = {
    listeners: [
      https('exact', 'a.example.com'),
      https('wildcard', '*.example.com'),
      https('deeper', '*.deep.example.com'),
      https('broken', 'broken.example.com', { tls: { invalid: 'secret ns/x not found' } }),
      https('mismatch', 'mismatch.example.com', {
        pair: { certificate: pairOf('one', []).certificate, privateKey: pairOf('two', []).privateKey },
      }),
      https('any', undefined, { answers: '=request.scheme + " " + destination.hostname' }),
    ],
  }
  gateway = await startTlsProxy(setup)
})
afterAll(() => gateway.stop())

describe('certificate by server name', () => {
  it.each([
    ['a.example.com', 'exact'],
    ['A.EXAMPLE.com', 'exact'],
    ['b.example.com', 'wildcard'],
    ['x.y.example.com', 'wildcard'],
    ['x.deep.example.com', 'deeper'],
    ['deep.example.com', 'wildcard'],
    ['example.com', 'any'],
    ['other.test', 'any'],
  ])('%s is answered by %s', async (servername, commonName) => {
    expect((await shakeHands(port, { servername })).commonName).toBe(commonName)
  })

  it('answers clients without a name by the listener without one', async () => {
    expect((await shakeHands(port)).commonName).toBe('any')
  })

  it('gives expressions the scheme and the name', async () => {
    expect(await get(port, 'other.test')).toMatchObject({ status: 200, body: 'https other.test' })
  })

  it.each(['broken.example.com', 'mismatch.example.com'])(
    'fails the handshake for %s, and shows no other certificate',
    async (servername) => {
      await expect(shakeHands(port, { servername })).rejects.toThrow(/alert|handshake/i)
    },
  )

  it('speaks no plain HTTP on the port', async () => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: a.example.com\r\n\r\n')
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(bytes).toBe(0)
  })

  it('offers only the protocols it speaks', async () => {
    const { socket } = await shakeHands(port, { servername: 'a.example.com', ALPNProtocols: ['spdy/3', 'http/1.1'] })
    expect(socket.alpnProtocol).toBe('http/1.1')
  })

  it('is understood by openssl s_client, certificate verified', async () => {
    const child = spawn('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-servername',
      'a.example.com',
      '-brief',
    ])
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.stdin.write('GET / HTTP/1.1\r\nhost: a.example.com\r\nconnection: close\r\n\r\n')
    await once(child, 'close')
    expect(text).toContain('Protocol version: TLSv1.3')
    expect(text).toContain('Peer certificate: O = Test, CN = exact')
    expect(text).toContain('HTTP/1.1 200 OK')
  })
})

describe('requests for another host', () => {
  it.each([
    ['a.example.com', 'a.example.com', 200],
    ['a.example.com', 'a.example.com:8443', 200],
    ['a.example.com', 'b.example.com', 421],
    ['b.example.com', 'a.example.com', 421],
    ['b.example.com', 'c.example.com', 200],
    ['b.example.com', 'elsewhere.test', 421],
  ])('connection to %s, host %s: %d', async (servername, host, status) => {
    expect((await get(port, servername, host)).status).toBe(status)
  })

  it('is 404 when no listener has the host', async () => {
    const own = await freePort()
    const proxy = await startTlsProxy({
      listeners: [{ name: 'only', port: own, protocol: 'HTTPS', hostname: 'a.test', pair: pairOf('only', ['a.test']) }],
    })
    try {
      expect((await get(own, 'a.test', 'b.test')).status).toBe(404)
      await expect(shakeHands(own, { servername: 'b.test' })).rejects.toThrow(/unrecognized name/)
      await expect(shakeHands(own)).rejects.toThrow(/unrecognized name/)
    } finally {
      await proxy.stop()
    }
  })
})

describe('client certificates', () => {
  const client = certificateFor({
    commonName: 'client',
    names: ['URI:spiffe://td.test/ns/shop/sa/cart', 'DNS:client.test'],
    issuer: ca,
  })
  const stranger = certificateFor({ commonName: 'stranger', names: ['URI:spiffe://td.test/ns/shop/sa/cart'] })
  const credentials = (pair: KeyPair): { cert: string; key: string } => ({
    cert: pair.certificate,
    key: pair.privateKey,
  })
  const EXPRESSION = `=[source.subjectCn, source.spiffeId, source.identity.namespace, source.subjectAltNames[1],
    source.issuer, source.subject, string(source.certificate.startsWith("-----BEGIN CERTIFICATE"))].join("|")`
  const listener = (mode: NonNullable<ListenerTLS['clientCertificates']>['mode'], own: number): TestListener => ({
    name: 'mtls',
    port: own,
    protocol: 'HTTPS',
    pair: pairOf('mtls', ['m.test']),
    tls: { clientCertificates: { mode, caCertificates: ca.certificate } },
    answers: EXPRESSION,
  })

  it('AllowValidOnly accepts verified ones and gives expressions their identity', async () => {
    const own = await freePort()
    const proxy = await startTlsProxy({ listeners: [listener('AllowValidOnly', own)] })
    try {
      const { socket } = await shakeHands(own, { servername: 'm.test', ...credentials(client) })
      expect((await ask(socket, 'm.test')).body).toBe(
        'client|spiffe://td.test/ns/shop/sa/cart|shop|client.test|O=Test, CN=Test CA|O=Test, CN=client|true',
      )
      for (const options of [{}, credentials(stranger)]) {
        const answer = shakeHands(own, { servername: 'm.test', ...options }).then(({ socket: open }) =>
          ask(open, 'm.test'),
        )
        await expect(answer).rejects.toThrow(/alert|ECONNRESET|connection closed|disconnected/)
      }
    } finally {
      await proxy.stop()
    }
  })

  it('AllowInsecureFallback accepts every client and trusts only verified certificates', async () => {
    const own = await freePort()
    const answers = '=has(source.spiffeId) ? source.spiffeId : "anonymous"'
    const proxy = await startTlsProxy({ listeners: [{ ...listener('AllowInsecureFallback', own), answers }] })
    try {
      const bodies = []
      for (const options of [{}, credentials(stranger), credentials(client)]) {
        const { socket } = await shakeHands(own, { servername: 'm.test', ...options })
        bodies.push((await ask(socket, 'm.test')).body)
        socket.destroy()
      }
      expect(bodies).toEqual(['anonymous', 'anonymous', 'spiffe://td.test/ns/shop/sa/cart'])
    } finally {
      await proxy.stop()
    }
  })

  // OpenSSL finds the trusted authority by its name, and fails at the signature.
  const forger = authority()
  const forged = (key: 'EC' | 'RSA'): KeyPair =>
    certificateFor({ commonName: 'client', issuer: forger, hasKeyIdentifiers: false, key })

  firstOf(2)<['EC' | 'RSA', 'TLSv1.2' | 'TLSv1.3']>([
    ['EC', 'TLSv1.3'],
    ['RSA', 'TLSv1.2'],
    ['EC', 'TLSv1.2'],
    ['RSA', 'TLSv1.3'],
  ])(
    'AllowInsecureFallback serves a client whose certificate names the authority but is signed by another key: %s, %s',
    async (key, maxVersion) => {
      const own = await freePort()
      const answers = '=has(source.subjectCn) ? source.subjectCn : "anonymous"'
      const proxy = await startTlsProxy({ listeners: [{ ...listener('AllowInsecureFallback', own), answers }] })
      try {
        const options = { maxVersion, ...credentials(forged(key)) }
        for (let i = 0; i < 3; i++) {
          const { socket } = await shakeHands(own, { servername: 'm.test', ...options })
          expect((await ask(socket, 'm.test')).body).toBe('anonymous')
          expect((await ask(socket, 'm.test')).body).toBe('anonymous')
          socket.destroy()
        }
        const piecemeal = await throughPieces(own)
        const { socket } = await shakeHands(piecemeal, { servername: 'm.test', ...options })
        expect((await ask(socket, 'm.test')).body).toBe('anonymous')
        socket.destroy()
      } finally {
        await proxy.stop()
      }
    },
  )

  it('AllowValidOnly refuses a client whose certificate names the authority but is signed by another key', async () => {
    const own = await freePort()
    const proxy = await startTlsProxy({ listeners: [listener('AllowValidOnly', own)] })
    try {
      const answer = shakeHands(own, { servername: 'm.test', ...credentials(forged('EC')) }).then(({ socket }) =>
        ask(socket, 'm.test'),
      )
      await expect(answer).rejects.toThrow(/alert|ECONNRESET|connection closed|disconnected/)
    } finally {
      await proxy.stop()
    }
  })

  it('asks for the certificate again when a session is offered to be resumed', async () => {
    const own = await freePort()
    const proxy = await startTlsProxy({ listeners: [listener('AllowValidOnly', own)] })
    try {
      const first = await shakeHands(own, { servername: 'm.test', maxVersion: 'TLSv1.2', ...credentials(client) })
      const session = first.socket.getSession()
      await ask(first.socket, 'm.test')
      const second = shakeHands(own, {
        servername: 'm.test',
        maxVersion: 'TLSv1.2',
        ...(session !== undefined && { session }),
      })
      await expect(second.then(({ socket }) => ask(socket, 'm.test'))).rejects.toThrow(
        /alert|ECONNRESET|connection closed|disconnected/,
      )
    } finally {
      await proxy.stop()
    }
  })
})

describe('frontend.tls', () => {
  let own: number
  let one: TestSetup
  let proxy: TlsTestProxy

  beforeAll(async () => {
    own = await freePort()
    one = { listeners: [{ name: 'one', port: own, protocol: 'HTTPS', pair: pairOf('one', ['one.test']) }] }
    proxy = await startTlsProxy(one)
  })
  afterAll(() => proxy.stop())

  it.each([
    [{ minProtocolVersion: '1.3' as const }, { maxVersion: 'TLSv1.2' as const }, undefined],
    [{ maxProtocolVersion: '1.2' as const }, {}, 'TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256'],
    [{ cipherSuites: ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'] }, {}, 'TLSv1.2 ECDHE-ECDSA-CHACHA20-POLY1305'],
    [{ cipherSuites: ['TLS13_CHACHA20_POLY1305_SHA256'] }, {}, 'TLSv1.3 TLS_CHACHA20_POLY1305_SHA256'],
    [{ cipherSuites: ['TLS13_AES_128_GCM_SHA256'] }, { maxVersion: 'TLSv1.2' as const }, undefined],
    [{ keyExchangeGroups: ['P-384' as const] }, { ecdhCurve: 'X25519' }, undefined],
    [{ keyExchangeGroups: ['X25519_MLKEM768' as const] }, { maxVersion: 'TLSv1.2' as const }, undefined],
    [{ keyExchangeGroups: ['X25519_MLKEM768' as const] }, { ecdhCurve: 'X25519MLKEM768' }, /TLSv1.3/],
    [{ keyExchangeGroups: ['X25519_MLKEM768' as const] }, { ecdhCurve: 'X25519' }, undefined],
  ])('%j with a client of %j', async (policy, options, expected) => {
    await proxy.apply({ ...one, policies: [{ frontend: { tls: policy } }] })
    const outcome = await shakeHands(own, { servername: 'one.test', ...options }).then(
      ({ socket }) => `${socket.getProtocol()} ${socket.getCipher().name}`,
      () => undefined,
    )
    if (expected instanceof RegExp) expect(outcome).toMatch(expected)
    else expect(outcome).toBe(expected)
  })

  it.each([
    [{ minProtocolVersion: '1.3' as const, cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256' as const] }],
    [{ maxProtocolVersion: '1.2' as const, keyExchangeGroups: ['X25519_MLKEM768' as const] }],
  ])('%j leaves nothing: a warning, and no handshake', async (policy) => {
    await proxy.apply(one)
    const [warning] = await proxy.apply({ ...one, policies: [{ frontend: { tls: policy } }] })
    expect(warning).toContain('no client can connect: ')
    await expect(shakeHands(own, { servername: 'one.test' })).rejects.toThrow(/handshake failure/)
  })

  it('closes clients that are too slow, before and during the handshake', async () => {
    await proxy.apply({ ...one, policies: [{ frontend: { tls: { handshakeTimeoutMs: 100 } } }] })
    const failures = (): Promise<number> => proxy.metric('gw_tls_handshake_failures_total')
    const before = await failures()
    const silent = net.connect(own, '127.0.0.1')
    const half = net.connect(own, '127.0.0.1')
    const hello = await captureHello('one.test')
    half.write(hello.subarray(0, 60))
    const stuck = net.connect(own, '127.0.0.1')
    stuck.write(hello)
    stuck.resume()
    for (const socket of [silent, half, stuck]) socket.on('error', () => {})
    await Promise.all([silent, half, stuck].map((socket) => once(socket, 'close')))
    await until('failures are counted', async () => (await failures()) === before + 3)
    expect((await get(own, 'one.test')).status).toBe(200)
  })

  it('counts handshakes by listener', async () => {
    const count = (): Promise<number> => gateway.metric('gw_tls_handshake_duration_seconds_count', 'listener="exact"')
    const before = await count()
    await get(port, 'a.example.com')
    await until('the handshake is counted', async () => (await count()) > before)
    expect(await count()).toBe(before + 1)
  })
})

describe('drain', () => {
  it('is over when the last connection is: none is counted for ever', async () => {
    const own = await freePort()
    const proxy = await startTlsProxy({
      listeners: [{ name: 'one', port: own, protocol: 'HTTPS', pair: pairOf('one', ['one.test']) }],
    })
    for (let i = 0; i < 3; i++) await get(own, 'one.test')
    // These leave before the proxy has the last message of their handshake.
    for (let i = 0; i < 3; i++) (await shakeHands(own, { servername: 'one.test' })).socket.destroy()
    const failed = (): Promise<number> => proxy.metric('gw_tls_handshake_failures_total')
    const done = (): Promise<number> => proxy.metric('gw_tls_handshake_duration_seconds_count')
    await until('all are seen, long before the handshake timeout', async () => (await failed()) + (await done()) === 6)
    await expect(shakeHands(own, { servername: 'one.test', maxVersion: 'TLSv1.1' })).rejects.toThrow(/protocol|version/)
    const open = await shakeHands(own, { servername: 'one.test' })
    await ask(open.socket, 'one.test')
    await until('one is open', async () => (await proxy.metric('gw_downstream_connections_open')) === 1)
    open.socket.destroy()
    await until('none is open', async () => (await proxy.metric('gw_downstream_connections_open')) === 0)
    await proxy.stop()
  })
})

describe('HTTP/2', () => {
  it('is spoken with clients that offer it, by the same listener and with the same facts', async () => {
    const session = connect(`https://127.0.0.1:${port}`, { servername: 'other.test', rejectUnauthorized: false })
    const statuses: string[] = []
    for (const [authority, path] of [
      ['other.test', '/'],
      ['a.example.com', '/'],
    ]) {
      const stream = session.request({ ':authority': authority, ':path': path })
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>] // what node:http2 emits
      let body = ''
      for await (const chunk of stream) body += String(chunk)
      statuses.push(`${String(headers[':status'])} ${body}`)
    }
    session.destroy()
    expect(statuses).toEqual(['200 https other.test', '421 misdirected request'])
  })
})

/** Passes bytes of the client on in pieces that arrive one by one, as over a network. */
async function throughPieces(port: number): Promise<number> {
  const server = net.createServer((client) => {
    const backend = net.connect(port, '127.0.0.1')
    backend.setNoDelay(true)
    backend.pipe(client)
    client.on('error', () => backend.destroy())
    backend.on('error', () => client.destroy())
    client.on('close', () => backend.destroy())
    let last = Promise.resolve()
    client.on('data', (chunk) => {
      for (let at = 0; at < chunk.length; at += 200) {
        const piece = chunk.subarray(at, at + 200)
        last = last.then(() => new Promise((resolve) => backend.write(piece, () => setImmediate(resolve))))
      }
    })
  })
  return listeningUntil(cleanup, server)
}
