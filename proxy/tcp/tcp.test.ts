// Connections that are passed on as bytes, through a real proxy: TCP listeners, TLS passthrough, TLS that ends here.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Backend, Policy } from '#api/ir/types.gen.ts'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { freePort, listeningUntil } from '#test/ports.ts'
import { until } from '../runtime/config.testing.ts'
import { ask, shakeHands } from '../tls/client.testing.ts'
import { startTlsProxy, type TestListener, type TestSetup, type TlsTestProxy } from '../tls/proxy.testing.ts'

const MIB = 1024 * 1024
const ca = authority()
const pairOf = (commonName: string, names: readonly string[] = [`DNS:${commonName}`]): KeyPair =>
  certificateFor({ commonName, names, issuer: ca })

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0).reverse()) await each()
})

function serve(server: net.Server): Promise<number> {
  return listeningUntil(cleanup, server)
}

const listening = (accept: (socket: net.Socket) => void): Promise<number> =>
  serve(net.createServer({ allowHalfOpen: true }, accept))

const listeningTls = (options: tls.TlsOptions, accept: (socket: tls.TLSSocket) => void): Promise<number> => {
  const server = tls.createServer(options, (socket) => {
    socket.on('error', () => {})
    accept(socket)
  })
  server.on('tlsClientError', () => {})
  return serve(server)
}

const greeting = (text: string): Promise<number> =>
  listening((socket) => {
    socket.end(text)
  })

/** One proxy for all tests: starting one costs more than most of them. */
let shared: TlsTestProxy | undefined
afterAll(() => shared?.stop())

async function start(setup: TestSetup): Promise<TlsTestProxy> {
  if (shared === undefined) shared = await startTlsProxy(setup)
  else await shared.apply(setup)
  return shared
}

const bindLabel = (port: number): string => `bind="${port}/ns/gw"`

const at = (port: number, inlinePolicies?: Backend['inlinePolicies']): Omit<Backend, 'key' | 'name'> => ({
  static: { host: '127.0.0.1', port },
  ...(inlinePolicies && { inlinePolicies }),
})

async function tcpProxy(
  backends: TestSetup['backends'] & object,
  weights: TestListener['backends'] & object,
  policies: readonly Policy['policy'][] = [],
): Promise<{ proxy: TlsTestProxy; port: number }> {
  const port = await freePort()
  const listeners: TestListener[] = [{ name: 'tcp', port, protocol: 'TCP', backends: weights }]
  return { proxy: await start({ listeners, backends, policies }), port }
}

function connect(port: number): net.Socket {
  const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  socket.on('error', () => {})
  cleanup.push(() => socket.destroy())
  return socket
}

async function textOf(socket: net.Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await Promise.race([once(socket, 'end'), once(socket, 'close')])
  return text
}

describe('TCP listener', () => {
  it('keeps half-closed connections: the answer comes after the last byte of the question', async () => {
    const backend = await listening((socket) => {
      let bytes = 0
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
      socket.on('end', () => socket.end(`got ${bytes}`))
    })
    const { port } = await tcpProxy({ echo: at(backend) }, [['echo', 1]])
    const client = connect(port)
    client.end(Buffer.alloc(100_000))
    expect(await textOf(client)).toBe('got 100000')
  })

  it('forwards a server that sends first, and a client that continues after the server has ended', async () => {
    let heard = ''
    const backend = await listening((socket) => {
      socket.end('220 ready')
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
    })
    const { port } = await tcpProxy({ mail: at(backend) }, [['mail', 1]])
    const client = connect(port)
    expect(await textOf(client)).toBe('220 ready')
    client.end('quit')
    await until('the backend heard it', () => heard === 'quit')
  })

  it('shares connections by weight, and none for 0', async () => {
    const [one, two, never] = [await greeting('one'), await greeting('two'), await greeting('never')]
    const { port } = await tcpProxy({ one: at(one), two: at(two), never: at(never) }, [
      ['one', 3],
      ['two', 1],
      ['never', 0],
    ])
    const counts = new Map<string, number>()
    for (let i = 0; i < 100; i++) {
      const text = await textOf(connect(port))
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    expect([...counts.keys()].sort()).toEqual(['one', 'two'])
    // 75 expected; 50 is 5.8 standard deviations away.
    expect(counts.get('one')).toBeGreaterThan(50)
    expect(counts.get('two')).toBeGreaterThan(3)
  })

  it.each<[string, TestSetup['backends'] & object, TestListener['backends'] & object]>([
    ['weights of zero', { a: at(1) }, [['a', 0]]],
    ['a backend that is not there', {}, [['gone', 1]]],
    [
      'a backend that speaks MCP',
      { a: { mcp: { targets: [], sessionRouting: 'Stateful', prefixMode: 'Always', failureMode: 'FailOpen' } } },
      [['a', 1]],
    ],
    [
      'a backend that is an LLM',
      { a: { ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} } }] }] } } },
      [['a', 1]],
    ],
    ['a backend that a policy denies', { a: at(1, { deny: { field: 'backend.tls', message: 'broken' } }) }, [['a', 1]]],
  ])('closes for %s', async (_title, backends, weights) => {
    const { proxy, port } = await tcpProxy(backends, weights)
    expect(await textOf(connect(port))).toBe('')
    await until(
      'it is counted',
      async () => (await proxy.metric('gw_downstream_connections_total', bindLabel(port))) === 1,
    )
  })

  it('closes when the backend refuses, and when it is too slow to connect', async () => {
    const refused = await tcpProxy({ a: at(await freePort()) }, [['a', 1]])
    expect(await textOf(connect(refused.port))).toBe('')
    // A TLS server that never answers: connecting is not over before the handshake.
    const silent = await listening((socket) => socket.resume())
    const slow = await tcpProxy({ a: at(silent, { tls: {}, tcp: { connectTimeoutMs: 50 } }) }, [['a', 1]])
    expect(await textOf(connect(slow.port))).toBe('')
    // The connection is counted after it was closed.
    const timeouts = (): Promise<number> => slow.proxy.metric('gw_request_duration_seconds_count', 'reason="Timeout"')
    await expect.poll(timeouts, { timeout: 5000 }).toBe(1)
  })

  it('holds back a fast server for a slow client', async () => {
    let server: net.Socket | undefined
    const backend = await listening((socket) => {
      server = socket
      for (let i = 0; i < 64; i++) socket.write(Buffer.alloc(MIB))
    })
    const { proxy, port } = await tcpProxy({ a: at(backend) }, [['a', 1]])
    const client = connect(port)
    client.pause()
    await until('the backend connection', () => server !== undefined)
    const taken = (): number => (server?.bytesWritten ?? 0) - (server?.writableLength ?? 0)
    // Nothing more is taken once the buffers of kernel and proxy are full.
    let last = -1
    let same = 0
    await until('the flow stops', () => {
      same = taken() === last ? same + 1 : 0
      last = taken()
      return last > 0 && same > 40
    })
    expect(server?.writableLength).toBeGreaterThan(32 * MIB)
    let received = 0
    client.on('data', (chunk: Buffer) => (received += chunk.length))
    client.resume()
    await until('all of it arrives', () => received === 64 * MIB)
    client.destroy()
    server?.destroy()
    await until(
      'bytes are counted',
      async () => (await proxy.metric('gw_downstream_sent_bytes_total', bindLabel(port))) === 64 * MIB,
    )
  })

  it('resets the other side when one breaks, so that nothing cut looks whole', async () => {
    const servers: net.Socket[] = []
    const errors: string[] = []
    const noted = (name: string, socket: net.Socket): void => {
      socket.on('error', (error: NodeJS.ErrnoException) => errors.push(`${name} ${error.code}`))
    }
    const backend = await listening((socket) => {
      noted('backend', socket)
      servers.push(socket)
      socket.resume()
    })
    const { port } = await tcpProxy({ a: at(backend) }, [['a', 1]])
    const client = connect(port)
    client.write('x')
    await until('the backend connection', () => (servers[0]?.bytesRead ?? 0) > 0)
    client.resetAndDestroy()
    await until('the backend sees it', () => servers[0]?.destroyed === true)
    const again = connect(port)
    noted('client', again)
    again.resume()
    again.write('x')
    await until('the next backend connection', () => (servers[1]?.bytesRead ?? 0) > 0)
    servers[1]?.resetAndDestroy()
    await until('the client sees it', () => again.destroyed)
    expect(errors).toEqual(['backend ECONNRESET', 'client ECONNRESET'])
  })

  it('leaves open connections alone when the configuration changes, and gives new ones the new route', async () => {
    const one = await listening((socket) => socket.pipe(socket))
    const two = await greeting('two')
    const { proxy, port } = await tcpProxy({ one: at(one) }, [['one', 1]])
    const client = connect(port)
    client.write('a')
    expect(String(await once(client, 'data'))).toBe('a')
    await proxy.apply({
      listeners: [{ name: 'tcp', port, protocol: 'TCP', backends: [['two', 1]] }],
      backends: { two: at(two) },
    })
    expect(await textOf(connect(port))).toBe('two')
    client.write('b')
    expect(String(await once(client, 'data'))).toBe('b')
  })
})

describe('TLS passthrough', () => {
  const backendOf = (commonName: string, accept: (socket: tls.TLSSocket) => void): Promise<number> => {
    const { certificate, privateKey } = pairOf(commonName)
    return listeningTls({ cert: certificate, key: privateKey }, accept)
  }

  it('routes by name and never ends the TLS of the client', async () => {
    const [a, b] = [await backendOf('a.test', (s) => s.end('a')), await backendOf('b.test', (s) => s.end('b'))]
    const port = await freePort()
    const listener = (name: string, hostname: string): TestListener => ({
      name, port, protocol: 'TLS', hostname, tls: { mode: 'Passthrough' }, backends: [[name, 1]], routeHostnames: [hostname],
    }) // prettier-ignore
    const proxy = await start({
      listeners: [listener('a', 'a.test'), listener('b', '*.test')],
      backends: { a: at(a), b: at(b) },
    })
    const trusting = { ca: ca.certificate, rejectUnauthorized: true }
    for (const servername of ['a.test', 'b.test']) {
      const { socket, commonName } = await shakeHands(port, { servername, ...trusting })
      expect(commonName).toBe(servername)
      socket.destroy()
    }
    const closed = /ECONNRESET|disconnected before|socket hang up|closed/
    await expect(shakeHands(port, { servername: 'elsewhere.example' })).rejects.toThrow(closed)
    await expect(shakeHands(port)).rejects.toThrow(closed)
    await until(
      'it is counted',
      async () => (await proxy.metric('gw_downstream_connections_total', bindLabel(port))) === 2,
    )
  })

  it('carries 64 MiB unchanged, both ways at once', { tags: ['full'], timeout: 60_000 }, async () => {
    const upload = randomBytes(64 * MIB)
    const download = randomBytes(64 * MIB)
    let digest = ''
    const backend = await backendOf('a.test', (socket) => {
      const hash = createHash('sha256')
      let bytes = 0
      socket.on('data', (chunk: Buffer) => {
        hash.update(chunk)
        bytes += chunk.length
        if (bytes === upload.length) digest = hash.digest('hex')
      })
      socket.write(download)
    })
    const port = await freePort()
    await start({
      listeners: [
        {
          name: 'a',
          port,
          protocol: 'TLS',
          tls: { mode: 'Passthrough' },
          backends: [['a', 1]],
          routeHostnames: ['a.test'],
        },
      ],
      backends: { a: at(backend) },
    })
    const { socket } = await shakeHands(port, { servername: 'a.test', ca: ca.certificate, rejectUnauthorized: true })
    const hash = createHash('sha256')
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      hash.update(chunk)
      bytes += chunk.length
    })
    socket.write(upload)
    await until('all of it', () => digest !== '' && bytes === download.length)
    expect(digest).toBe(createHash('sha256').update(upload).digest('hex'))
    expect(hash.digest('hex')).toBe(createHash('sha256').update(download).digest('hex'))
    socket.destroy()
  })
})

describe('TLS that ends here', () => {
  it('gives backends the bytes below, and clients the protocol the policy names', async () => {
    const backend = await listening((socket) => socket.pipe(socket))
    const port = await freePort()
    await start({
      listeners: [
        { name: 'db', port, protocol: 'TLS', hostname: 'db.test', pair: pairOf('db.test'), backends: [['a', 1]] },
      ],
      backends: { a: at(backend) },
      policies: [{ frontend: { tls: { alpnProtocols: ['postgresql'] } } }],
    })
    const { socket, commonName } = await shakeHands(port, { servername: 'db.test', ALPNProtocols: ['postgresql'] })
    expect([commonName, socket.alpnProtocol]).toEqual(['db.test', 'postgresql'])
    socket.end('hello')
    expect(await textOf(socket)).toBe('hello')
  })
})

describe('TLS towards the backend', () => {
  const client = pairOf('gateway', ['DNS:gateway.test'])
  const backendTls = async (
    names: readonly string[],
    policy: NonNullable<NonNullable<Backend['inlinePolicies']>['tls']>,
  ): Promise<string> => {
    const { certificate, privateKey } = certificateFor({ commonName: 'backend', names, issuer: ca })
    const options = {
      cert: certificate,
      key: privateKey,
      ca: ca.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    }
    const backend = await listeningTls(options, (socket) => {
      const { subject } = socket.getPeerCertificate()
      socket.end(`${socket.authorized ? String(subject.CN) : 'anonymous'} ${socket.getProtocol()}`)
    })
    const port = await freePort()
    await start({
      listeners: [{ name: 'tcp', port, protocol: 'TCP', backends: [['a', 1]] }],
      backends: { a: at(backend, { tls: { caCertificates: ca.certificate, ...policy } }) },
      secrets: { 'ns/client/tls.crt': client.certificate, 'ns/client/tls.key': client.privateKey },
    })
    return textOf(connect(port))
  }
  const certificate = { clientCertificate: { secret: 'ns/client/tls.crt' }, clientKey: { secret: 'ns/client/tls.key' } }

  it.each([
    ['the address of the destination', ['IP:127.0.0.1'], {}, 'anonymous TLSv1.3'],
    ['the server name', ['DNS:a.test'], { sni: 'a.test' }, 'anonymous TLSv1.3'],
    ['another name', ['DNS:a.test'], { sni: 'b.test' }, ''],
    [
      'one of the alternative names',
      ['URI:spiffe://td/x'],
      { verifySubjectAltNames: ['b.test', 'spiffe://td/x'] },
      'anonymous TLSv1.3',
    ],
    ['none of the alternative names', ['DNS:backend', 'IP:127.0.0.1'], { verifySubjectAltNames: ['b.test'] }, ''],
    ['a wildcard', ['DNS:*.test'], { verifySubjectAltNames: ['a.test'] }, 'anonymous TLSv1.3'],
    ['a wildcard of one label', ['DNS:*.test'], { verifySubjectAltNames: ['a.b.test'] }, ''],
    [
      'no name at all when none counts',
      ['DNS:a.test'],
      { insecureSkipVerify: 'Hostname' as const },
      'anonymous TLSv1.3',
    ],
    ['a client certificate', ['IP:127.0.0.1'], certificate, 'gateway TLSv1.3'],
    [
      'a client certificate that is missing',
      ['IP:127.0.0.1'],
      { ...certificate, clientKey: { secret: 'ns/gone' } },
      '',
    ],
    ['groups of its own', ['IP:127.0.0.1'], { keyExchangeGroups: ['P-384' as const] }, 'anonymous TLSv1.3'],
  ])('with %s', async (_title, names, policy, expected) => {
    expect(await backendTls(names, policy)).toBe(expected)
  })
})

describe('frontend.networkAuthorization', () => {
  const rule = (action: 'Allow' | 'Deny' | 'Require', expression: string): Policy['policy'] => ({
    frontend: { networkAuthorization: { action, matchExpressions: [expression] } },
  })
  const here = 'cidr("127.0.0.0/8").containsIP(ip(source.address))'
  const elsewhere = 'cidr("10.0.0.0/8").containsIP(ip(source.address))'

  it.each([
    ['no rules', [], true],
    ['an allowed network', [rule('Allow', here)], true],
    ['another network allowed', [rule('Allow', elsewhere)], false],
    ['one of two allowed', [rule('Allow', elsewhere), rule('Allow', here)], true],
    ['denied before allowed', [rule('Deny', here), rule('Allow', here)], false],
    ['one requirement missed', [rule('Require', here), rule('Require', elsewhere)], false],
    ['an Allow that fails', [rule('Allow', 'request.path == "/"')], false],
  ] as const)('%s: passed on is %s', async (_title, policies, isServed) => {
    const { proxy, port } = await tcpProxy({ a: at(await greeting('in')) }, [['a', 1]], policies)
    const refused = (): Promise<number> => proxy.metric('gw_refused_requests_total', 'status="403"')
    const before = await refused()
    expect(await textOf(connect(port))).toBe(isServed ? 'in' : '')
    expect((await refused()) - before).toBe(isServed ? 0 : 1)
    const httpPort = await freePort()
    await start({ listeners: [{ name: 'http', port: httpPort, protocol: 'HTTP', answers: 'in' }], policies })
    const answer = fetch(`http://127.0.0.1:${httpPort}/`).then((response) => response.text())
    if (isServed) expect(await answer).toBe('in')
    else await expect(answer).rejects.toThrow('fetch failed')
    expect((await refused()) - before).toBe(isServed ? 0 : 2)
  })

  it('knows the verified client of a TLS connection', async () => {
    const port = await freePort()
    await start({
      listeners: [
        {
          name: 'https',
          port,
          protocol: 'HTTPS',
          pair: pairOf('https.test'),
          tls: { clientCertificates: { mode: 'AllowInsecureFallback', caCertificates: ca.certificate } },
        },
      ],
      policies: [rule('Allow', 'source.spiffeId.startsWith("spiffe://td/")')],
    })
    const { certificate: cert, privateKey: key } = pairOf('member', ['URI:spiffe://td/ns/a/sa/b'])
    const member = await shakeHands(port, { cert, key })
    expect((await ask(member.socket, 'https.test')).status).toBe(200)
    const stranger = await shakeHands(port)
    await expect(ask(stranger.socket, 'https.test')).rejects.toThrow('connection closed after: ')
  })
})
