// The client side over raw sockets: pool, retries, deadlines, hostile backends, TLS, names, calls of their own.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import {
  answering,
  OK,
  portOf,
  type Proxy,
  type ProxyOptions,
  startProxy,
  startUpstream,
  targetOf,
  until,
  type Upstream,
} from '../http/server.testing.ts'
import { createUpstreamClient } from './client.ts'
import { DnsCache } from './dns-cache.ts'
import { UpstreamError, type UpstreamRequest } from './target.ts'
import { madeStream } from '../message/made-stream.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(
  onText: (socket: net.Socket, text: string, connection: number) => void,
  options: ProxyOptions = {},
): Promise<{ proxy: Proxy; upstream: Upstream }> {
  const upstream = await startUpstream(onText)
  const proxy = await startProxy(upstream.port, options)
  open.push(proxy, upstream)
  return { proxy, upstream }
}

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

async function statusOf(proxy: Proxy, request = GET): Promise<string> {
  const client = await proxy.connect()
  client.send(request)
  await until(() => client.text.includes('\r\n\r\n'))
  client.socket.destroy()
  return client.text.slice(9, 12)
}

describe('pool', () => {
  it('opens no more connections than requests that run together', async () => {
    const { proxy, upstream } = await start(answering(OK))
    for (let i = 0; i < 10; i++) expect(await statusOf(proxy)).toBe('200')
    expect(upstream.sockets.length).toBe(1)
  })

  it('fails with overloaded over the bound', async () => {
    const { proxy, upstream } = await start(() => {}, { client: { limits: { openPerTargetMax: 1 } } })
    const first = await proxy.connect()
    first.send(GET)
    await until(() => upstream.received() !== '')
    expect(await statusOf(proxy)).toBe('503')
    expect(proxy.finished[0]?.exchange.errorDetail).toContain('too many connections')
  })

  it('does not keep more idle connections than allowed', async () => {
    const { proxy } = await start(answering(OK), { client: { limits: { idlePerTargetMax: 1 } } })
    await Promise.all([statusOf(proxy), statusOf(proxy), statusOf(proxy)])
    await until(() => proxy.client.openConnections === 1)
    expect(proxy.client.idleConnections).toBe(1)
  })

  it('closes idle connections after their time', async () => {
    const { proxy } = await start(answering(OK), { client: { limits: { idleTimeoutMs: 1 } } })
    await statusOf(proxy)
    await until(() => proxy.client.openConnections === 0)
    expect(proxy.client.idleConnections).toBe(0)
  })

  it('honours connection: close of the backend', async () => {
    const { proxy, upstream } = await start(
      answering('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    )
    await statusOf(proxy)
    await statusOf(proxy)
    expect(upstream.sockets.length).toBe(2)
  })

  it('gives up a connection on which bytes came unasked', async () => {
    const { proxy, upstream } = await start(answering(OK))
    await statusOf(proxy)
    upstream.sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged')
    await until(() => proxy.client.openConnections === 0)
    expect(await statusOf(proxy)).toBe('200')
    expect(upstream.sockets.length).toBe(2)
  })

  it('gives up a connection on which bytes follow a response', async () => {
    const { proxy, upstream } = await start(answering(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged`))
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('ok')
    client.send(GET)
    await until(() => upstream.sockets.length === 2)
    await until(() => proxy.finished.length === 2)
    expect(client.text).not.toContain('forged')
  })

  it('tries an idempotent request again when the kept connection was dead, once and on a fresh one', async () => {
    const { proxy, upstream } = await start((socket, text, connection) => {
      // The first connection answers once and dies with the second request, without a byte.
      if (connection === 0 && text.split('\r\n\r\n').length > 2) socket.destroy()
      else socket.write(OK)
    })
    expect(await statusOf(proxy)).toBe('200')
    expect(await statusOf(proxy)).toBe('200')
    expect(upstream.sockets.length).toBe(2)
  })

  it.each([
    ['POST', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc'],
    ['PATCH without a body', 'PATCH / HTTP/1.1\r\nhost: a\r\n\r\n'],
  ])('does not repeat %s', async (_name, request) => {
    const { proxy, upstream } = await start((socket, text, connection) => {
      if (connection === 0 && text.split('\r\n\r\n').length > 2) socket.destroy()
      else socket.write(OK)
    })
    expect(await statusOf(proxy)).toBe('200')
    expect(await statusOf(proxy, request)).toBe('503')
    expect(upstream.sockets.length).toBe(1)
  })

  it('does not repeat after the first byte of an answer, nor on a fresh connection', async () => {
    const { proxy, upstream } = await start((socket, text) => {
      if (text.split('\r\n\r\n').length > 2) socket.end('HTTP/1.1 2')
      else socket.write(OK)
    })
    await statusOf(proxy)
    expect(await statusOf(proxy)).toBe('503')
    expect(upstream.sockets.length).toBe(1)
    const dead = await start((socket) => {
      socket.destroy()
    })
    expect(await statusOf(dead.proxy)).toBe('503')
    expect(dead.upstream.sockets.length).toBe(1)
  })
})

describe('hostile responses', () => {
  it.each([
    ['both lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'],
    ['bad length', 'HTTP/1.1 200 OK\r\ncontent-length: 2x\r\n\r\nok'],
    ['other coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok'],
    ['coding in 1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['bare LF', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
    ['bare CR', 'HTTP/1.1 200 OK\r\nx: a\rb\r\ncontent-length: 2\r\n\r\nok'],
    ['folded line', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 2\r\n\r\nok'],
    ['space before colon', 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok'],
    ['status of two digits', 'HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
    ['endless head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(200_000)}`],
    ['too many fields', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(300)}\r\n`],
    ['endless interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(40)],
  ])('%s: 503, and the connection is not used again', async (_name, response) => {
    const { proxy } = await start(answering(response))
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('upstream call failed')
    expect(client.text.startsWith('HTTP/1.1 503 ')).toBe(true)
    expect(proxy.client.openConnections).toBe(0)
    expect(proxy.finished[0]?.exchange.reason).toBe('UpstreamFailure')
  })

  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  it.each([
    ['first chunk size', `${CHUNKED}zz\r\nok\r\n0\r\n\r\n`],
    ['end of the first chunk', `${CHUNKED}2\r\nokx0\r\n\r\n`],
    ['second chunk size', `${CHUNKED}2\r\nok\r\n-1\r\n`],
    ['trailer', `${CHUNKED}2\r\nok\r\n0\r\nbad trailer\r\n\r\n`],
    ['framing in a trailer', `${CHUNKED}0\r\ncontent-length: 3\r\n\r\n`],
  ])('a bad %s before anything was sent on: 502', async (_name, response) => {
    const { proxy } = await start(answering(response))
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('upstream response broken: invalid chunked encoding in the response')
    expect(client.text.startsWith('HTTP/1.1 502 ')).toBe(true)
    // The client's connection is as good as before.
    client.send(GET)
    await until(() => client.text.split('HTTP/1.1 502 ').length === 3)
    expect(proxy.client.openConnections).toBe(0)
  })

  it('a response that breaks while a filter waits is a 502 as well', async () => {
    const { proxy, upstream } = await start((socket) => socket.write(CHUNKED), {
      handle(exchange, respond, { client, target }) {
        client.forward(exchange, target, 'a', () => {
          upstream.sockets[0]?.write('zz\r\n')
          setTimeout(respond, 50, exchange)
        })
      },
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('upstream response broken')
    expect(client.text.startsWith('HTTP/1.1 502 ')).toBe(true)
  })

  it('a chunk that is bad once the head is out cuts the response', async () => {
    const { proxy } = await start((socket) => {
      socket.write(CHUNKED)
      setTimeout(() => socket.write('zz\r\n'), 50)
    })
    const client = await proxy.connect()
    const text = await client.send(GET).ends()
    expect([text.startsWith('HTTP/1.1 200 '), text.endsWith('\r\n\r\n'), text.includes('0\r\n\r\n')]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('skips interim responses', async () => {
    const { proxy } = await start(
      answering(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}`),
    )
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('ok')
    expect(client.text.startsWith('HTTP/1.1 200')).toBe(true)
  })

  it.each(['HEAD', 'GET'])('%s of 204 and 304 ends with the head', async (method) => {
    for (const status of ['204 No Content', '304 Not Modified']) {
      const { proxy, upstream } = await start(answering(`HTTP/1.1 ${status}\r\netag: 1\r\n\r\n`))
      const client = await proxy.connect()
      client.send(`${method} / HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(2))
      await until(() => client.text.split('etag').length === 3)
      expect(upstream.sockets.length).toBe(1)
    }
  })

  it('keeps the length of a HEAD response', async () => {
    const { proxy } = await start(answering('HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n'))
    const client = await proxy.connect()
    client.send('HEAD / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2))
    await until(() => client.text.split('content-length: 1234').length === 3)
    expect(proxy.client.idleConnections).toBe(1)
  })
})

describe('deadlines', () => {
  it.each([
    ['requestTimeout', 'request timeout', { deadline: 30, perTry: 5000 }],
    ['upstreamTimeout', 'upstream call timeout', { deadline: 5000, perTry: 30 }],
  ])('%s: 504 and the backend is let go', async (_code, text, times) => {
    const { proxy, upstream } = await start(() => {}, {
      handle(exchange, respond, own) {
        exchange.deadlineMs = exchange.startMs + times.deadline
        exchange.backendRequestTimeoutMs = times.perTry
        own.client.forward(exchange, own.target, 'a', respond)
      },
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees(text)
    expect(client.text).toContain('HTTP/1.1 504')
    await until(() => upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed === true)
  })

  it('a deadline ends with the response head: a long body continues', async () => {
    const { proxy } = await start(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc')
        setTimeout(() => socket.write('def'), 120)
      },
      {
        handle(exchange, respond, own) {
          exchange.deadlineMs = exchange.startMs + 60
          own.client.forward(exchange, own.target, 'a', respond)
        },
      },
    )
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('abcdef')
    expect(client.text).toContain('HTTP/1.1 200')
  })

  it('gives up on a TLS backend that accepts and says nothing, and frees its connections', async () => {
    const tlsSettings = {
      servername: undefined,
      caCertificates: undefined,
      insecureSkipVerify: 'All' as const,
      alpnProtocols: undefined,
    }
    const { proxy, upstream } = await start(() => {}, { target: { connectTimeoutMs: 50, tls: tlsSettings } })
    expect(await statusOf(proxy)).toBe('504')
    await until(() => upstream.sockets.every((socket) => socket.readableEnded || socket.destroyed))
    expect(proxy.client.openConnections).toBe(0)
  })

  it('distinguishes refused connections from unknown names', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = portOf(server)
    server.close()
    await once(server, 'close')
    const refused = await startProxy(port)
    const dns = new DnsCache((_host, done) => {
      done(new Error('ENOTFOUND'), [])
    })
    const unknown = await startProxy(port, { target: { host: 'no.such.name' }, client: { dns } })
    open.push(refused, unknown)
    expect(await statusOf(refused)).toBe('503')
    expect(refused.finished[0]?.exchange.errorDetail).toContain('ECONNREFUSED')
    const client = await unknown.connect()
    client.send(GET)
    await client.sees('backends required DNS resolution which failed')
  })

  it('tries the next address of a name', async () => {
    const upstream = await startUpstream(answering(OK))
    // 127.0.0.2 has no listener on that port.
    const dns = new DnsCache((_host, done) => {
      done(undefined, ['127.0.0.2', '127.0.0.1'])
    })
    const proxy = await startProxy(upstream.port, { target: { host: 'two.example' }, client: { dns } })
    open.push(proxy, upstream)
    expect(await statusOf(proxy)).toBe('200')
    expect(proxy.finished[0]?.exchange.endpoint).toBe(`two.example:${upstream.port}`)
  })
})

describe('other transports', () => {
  it('reaches unix sockets and IPv6 hosts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-upstream-'))
    const path = join(directory, 'socket')
    const onConnection = (socket: net.Socket): void => {
      socket.on('error', () => {})
      socket.on('data', () => socket.write(OK))
    }
    const unix = net.createServer(onConnection).listen(path)
    await once(unix, 'listening')
    const six = net.createServer(onConnection).listen(0, '::1')
    await once(six, 'listening')
    const overUnix = await startProxy(0, { target: { unixPath: path } })
    const overSix = await startProxy(portOf(six), { target: { host: '::1' } })
    open.push(overUnix, overSix, unix, six, { close: () => rmSync(directory, { recursive: true }) })
    expect(await statusOf(overUnix)).toBe('200')
    expect(await statusOf(overSix)).toBe('200')
    expect(overSix.finished[0]?.exchange.endpoint).toBe(`[::1]:${portOf(six)}`)
  })
})

describe('TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-tls-'))
  let certificate = ''
  let key = ''
  beforeAll(() => {
    const [keyFile, certificateFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const subject = ['-subj', '/CN=backend.test', '-addext', 'subjectAltName=DNS:backend.test']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', keyFile, '-out', certificateFile, ...subject], {
      stdio: 'ignore',
    })
    key = readFileSync(keyFile, 'utf8')
    certificate = readFileSync(certificateFile, 'utf8')
  })
  afterAll(() => {
    rmSync(directory, { recursive: true })
  })

  async function backend(): Promise<{ port: number; sessions: boolean[]; names: unknown[]; alpn: unknown[] }> {
    const sessions: boolean[] = []
    const names: unknown[] = []
    const alpn: unknown[] = []
    const options = { key, cert: certificate, ALPNProtocols: ['h2', 'http/1.1'] }
    const server = tls.createServer(options, (socket) => {
      sessions.push(socket.isSessionReused())
      names.push((socket as { servername?: unknown }).servername)
      alpn.push(socket.alpnProtocol)
      socket.on('error', () => {})
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    open.push(server)
    return { port: portOf(server), sessions, names, alpn }
  }

  it.each([
    ['trusted CA and name', { servername: 'backend.test', ca: true, skip: undefined }, '200'],
    ['name does not match', { servername: 'other.test', ca: true, skip: undefined }, '503'],
    ['name not checked', { servername: 'other.test', ca: true, skip: 'Hostname' }, '200'],
    ['unknown CA', { servername: 'backend.test', ca: false, skip: undefined }, '503'],
    ['unknown CA with name unchecked', { servername: 'backend.test', ca: false, skip: 'Hostname' }, '503'],
    ['nothing checked', { servername: undefined, ca: false, skip: 'All' }, '200'],
    ['address is not in the certificate', { servername: undefined, ca: true, skip: undefined }, '503'],
  ] as const)('%s', async (_name, settings, status) => {
    const { port } = await backend()
    const proxy = await startProxy(port, {
      target: {
        tls: {
          servername: settings.servername,
          caCertificates: settings.ca ? certificate : undefined,
          insecureSkipVerify: settings.skip,
          alpnProtocols: undefined,
        },
      },
    })
    open.push(proxy)
    expect(await statusOf(proxy)).toBe(status)
  })

  it('resumes sessions within a target, sends SNI and ALPN', async () => {
    const { port, sessions, names, alpn } = await backend()
    const settings = {
      servername: 'backend.test',
      caCertificates: certificate,
      insecureSkipVerify: undefined,
      alpnProtocols: undefined,
    }
    const proxy = await startProxy(port, { target: { tls: settings } })
    open.push(proxy)
    await statusOf(proxy)
    await statusOf(proxy)
    expect(names).toEqual(['backend.test', 'backend.test'])
    expect(alpn).toEqual(['http/1.1', 'http/1.1'])
    expect(sessions).toEqual([false, true])
  })
})

describe('send', () => {
  const request = (extra: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
    method: 'POST',
    pathAndQuery: '/v1?x=1',
    authority: 'api.test',
    headers: HeaderList.of([['x', 'y']]),
    body: '{"a":1}',
    ...extra,
  })
  const later = (): number => performance.now() + 5000

  async function client(
    onText: (socket: net.Socket, text: string, connection: number) => void,
  ): Promise<{ upstream: Upstream; client: ReturnType<typeof createUpstreamClient> }> {
    const upstream = await startUpstream(onText)
    const own = createUpstreamClient()
    open.push(own, upstream)
    return { upstream, client: own }
  }

  it('sends text and gives a body to collect', async () => {
    const { upstream, client: own } = await client((socket) => {
      socket.write('HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')
    })
    const response = await own.send(targetOf(upstream.port), request(), { deadlineMs: later(), signal: undefined })
    expect(response.status).toBe(201)
    expect((await response.body.collect(100)).toString()).toBe('ok')
    expect(upstream.received()).toBe(
      'POST /v1?x=1 HTTP/1.1\r\nhost: api.test\r\nx: y\r\ncontent-length: 7\r\n\r\n{"a":1}',
    )
    expect(own.idleConnections).toBe(1)
  })

  it('sends a generator chunked and iterates the answer', async () => {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from('ab')
      await Promise.resolve()
      yield Buffer.from('cde')
    }
    const { upstream, client: own } = await client((socket, text) => {
      if (text.endsWith('0\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc')
      if (text.endsWith('0\r\n\r\n')) setTimeout(() => socket.write('def'), 20)
    })
    const target = targetOf(upstream.port)
    const response = await own.send(target, request({ body: madeStream(chunks(), () => {}) }), {
      deadlineMs: later(),
      signal: undefined,
    })
    let text = ''
    for await (const chunk of response.body) text += chunk.toString()
    expect(text).toBe('abcdef')
    expect(upstream.received()).toContain('transfer-encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n')
  })

  it('an iteration that stops early lets the backend go', async () => {
    const { upstream, client: own } = await client((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc')
    })
    const response = await own.send(targetOf(upstream.port), request(), { deadlineMs: later(), signal: undefined })
    for await (const chunk of response.body) {
      expect(chunk.toString()).toBe('abc')
      break
    }
    await until(() => own.openConnections === 0)
  })

  it('refuses to collect more than allowed', async () => {
    const { upstream, client: own } = await client((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n')
    })
    const response = await own.send(targetOf(upstream.port), request(), { deadlineMs: later(), signal: undefined })
    await expect(response.body.collect(5)).rejects.toThrow('larger than 5 bytes')
  })

  it('fails by deadline, by signal, by refusal and by a head that is not fit for the wire', async () => {
    const { upstream, client: own } = await client(() => {})
    const target = targetOf(upstream.port)
    const soon = performance.now() + 30
    await expect(own.send(target, request(), { deadlineMs: soon, signal: undefined })).rejects.toMatchObject({
      code: 'upstreamTimeout',
    })
    const controller = new AbortController()
    const aborted = own.send(target, request(), { deadlineMs: Infinity, signal: controller.signal })
    await until(() => upstream.sockets.length === 2)
    controller.abort()
    await expect(aborted).rejects.toBeInstanceOf(UpstreamError)
    for (const extra of [
      { headers: new HeaderList(['x', 'a\r\nb: c']) },
      { headers: new HeaderList(['x\r\n', 'a']) },
      { pathAndQuery: '/a b' },
      { pathAndQuery: '/\r\nhost: b' },
      { authority: 'a\r\nb: c' },
      { method: 'GET /' },
    ]) {
      const sent = own.send(target, request(extra), { deadlineMs: later(), signal: undefined })
      await expect(sent).rejects.toMatchObject({ code: 'upstreamFailure' })
    }
    await until(() => own.openConnections === own.idleConnections)
    expect(upstream.received()).not.toContain('b: c')
    own.close()
    await expect(own.send(target, request(), { deadlineMs: later(), signal: undefined })).rejects.toThrow('closed')
  })
})
