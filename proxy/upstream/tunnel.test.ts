// Backends behind a proxy: real CONNECT proxies with and without TLS, every kind of call, and every way it can fail.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { domainToASCII } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { listeningUntil } from '#test/ports.ts'
import { logOf } from '../exchange/diagnosis.ts'
import { HeaderList } from '../message/headers.ts'
import type { DialOutcome } from './dial.ts'
import { dial } from './dial-tunnel.ts'
import { createUpstreamClient } from './client.ts'
import { DnsCache } from './dns-cache.ts'
import type { UpstreamClient, UpstreamTarget, UpstreamTls, TunnelWay } from './target.ts'

const ca = authority()
const pairOf = (name: string) => certificateFor({ commonName: name, names: [`DNS:${name}`], issuer: ca })
const BACKEND = pairOf('backend.test')
const PROXY = pairOf('proxy.test')
const TLS: UpstreamTls = {
  servername: 'backend.test',
  caCertificates: ca.certificate,
  insecureSkipVerify: undefined,
  alpnProtocols: undefined,
}

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0).reverse()) await each()
})

function listen(server: net.Server): Promise<number> {
  return listeningUntil(cleanup, server)
}

interface ConnectProxy {
  readonly port: number
  readonly asked: string[]
  readonly headers: http.IncomingHttpHeaders[]
}

/** Knows the name backend.test, and where it is. */
async function connectProxy(to: number, isTls = false): Promise<ConnectProxy> {
  const asked: string[] = []
  const headers: http.IncomingHttpHeaders[] = []
  const server = isTls ? https.createServer({ cert: PROXY.certificate, key: PROXY.privateKey }) : http.createServer()
  server.on('connect', (request, client: net.Socket) => {
    asked.push(request.url ?? '')
    headers.push(request.headers)
    client.on('error', () => {})
    const upstream = net.connect({ host: '127.0.0.1', port: to }, () => {
      client.write('HTTP/1.1 200 Connection established\r\nproxy-agent: test\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  return { port: await listen(server), asked, headers }
}

/** Answers CONNECT with a fixed text. */
const answering = (text: string): Promise<number> =>
  listen(net.createServer((socket) => socket.once('data', () => socket.write(text))))

function through(port: number, extra: { tls?: UpstreamTls; headers?: readonly string[] } = {}): TunnelWay {
  const target = { ...plain('127.0.0.1', port), tls: extra.tls }
  return { pick: () => ({ target, other: () => undefined, begin() {}, end() {} }), headers: extra.headers ?? [] }
}

function plain(host: string, port: number): UpstreamTarget {
  return { key: `${host}:${port}`, host, port, unixPath: undefined, tls: undefined, connectTimeoutMs: 2000 }
}

function behind(way: TunnelWay, extra: Partial<UpstreamTarget> = {}): UpstreamTarget {
  return { ...plain('backend.test', 443), tunnel: { key: 'k', way }, ...extra }
}

function clientOf(): UpstreamClient {
  const client = createUpstreamClient()
  cleanup.push(() => client.close())
  return client
}

async function ask(client: UpstreamClient, target: UpstreamTarget): Promise<string> {
  const headers = new HeaderList()
  const request = { method: 'GET', pathAndQuery: '/', authority: target.host, headers, body: undefined }
  const response = await client.send(target, request, { deadlineMs: performance.now() + 9000, signal: undefined })
  return (await response.body.collect(1000)).toString()
}

const answer: http.RequestListener = (request, response) => response.end(`${request.headers.host} answers`)

describe('through a proxy', () => {
  it('HTTP/1.1: one CONNECT for many calls', async () => {
    const proxy = await connectProxy(await listen(http.createServer(answer)))
    const client = clientOf()
    for (let i = 0; i < 3; i++) expect(await ask(client, behind(through(proxy.port)))).toBe('backend.test answers')
    expect(proxy.asked).toEqual(['backend.test:443'])
  })

  it('HTTP/1.1 with TLS to the backend, and TLS to the proxy, each checked', async () => {
    const options = { cert: BACKEND.certificate, key: BACKEND.privateKey }
    const backend = await listen(https.createServer(options, answer))
    const proxy = await connectProxy(backend, true)
    const proxyTls = { ...TLS, servername: 'proxy.test' }
    const headers = ['proxy-authorization', 'Basic abc']
    const client = clientOf()
    const target = behind(through(proxy.port, { tls: proxyTls, headers }), { tls: TLS })
    expect(await ask(client, target)).toBe('backend.test answers')
    expect(proxy.headers[0]).toMatchObject({ host: 'backend.test:443', 'proxy-authorization': 'Basic abc' })
    const wrongProxy = behind(through(proxy.port, { tls: TLS }), { tls: TLS, key: 'b' })
    await expect(ask(client, wrongProxy)).rejects.toThrow(/proxy .*altnames/)
    const wrongBackend = behind(through(proxy.port, { tls: proxyTls }), { tls: proxyTls, key: 'c' })
    await expect(ask(client, wrongBackend)).rejects.toThrow(/backend.test:443: .*altnames/)
  })

  it.each([false, true])('HTTP/2, TLS %s', async (isTls) => {
    const options = { cert: BACKEND.certificate, key: BACKEND.privateKey }
    const server = isTls ? http2.createSecureServer(options) : http2.createServer()
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('h2')
    })
    const proxy = await connectProxy(await listen(server))
    const target = behind(through(proxy.port), { httpVersion: 'HTTP2', tls: isTls ? TLS : undefined })
    expect(await ask(clientOf(), target)).toBe('h2')
  })

  it('bytes, with what the backend says at once', async () => {
    const backend = await listen(net.createServer((socket) => socket.end('220 ready')))
    const proxy = await connectProxy(backend)
    const { promise, resolve } = Promise.withResolvers<DialOutcome>()
    dial(behind(through(proxy.port)), new DnsCache(), resolve)
    const outcome = await promise
    if (!('socket' in outcome)) throw new Error(logOf(outcome.detail))
    let text = ''
    outcome.socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    outcome.socket.resume()
    await once(outcome.socket, 'end')
    outcome.socket.destroy()
    expect(text).toBe('220 ready')
  })
})

interface ForwardProxy {
  readonly port: number
  readonly asked: string[]
  readonly headers: http.IncomingHttpHeaders[]
  readonly sockets: ReadonlySet<net.Socket>
}

/** Answers requests with an absolute URI itself; `status` for all of them. */
async function forwardProxy(status = 200, isTls = false): Promise<ForwardProxy> {
  const asked: string[] = []
  const headers: http.IncomingHttpHeaders[] = []
  const sockets = new Set<net.Socket>()
  const listener: http.RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    sockets.add(request.socket)
    request.resume().on('end', () => response.writeHead(status).end('forwarded'))
  }
  const options = { cert: PROXY.certificate, key: PROXY.privateKey }
  const server = isTls ? https.createServer(options, listener) : http.createServer(listener)
  return { port: await listen(server), asked, headers, sockets }
}

describe('plain HTTP/1.1 to the address of the backend', () => {
  const plainBehind = (way: TunnelWay, port = 80) => behind(way, { ...plain('backend.test', port) })

  it.each([false, true])('is handed to the proxy with an absolute URI; TLS to the proxy %s', async (isTls) => {
    const proxy = await forwardProxy(200, isTls)
    const own = ['proxy-authorization', 'Basic ours']
    const tls = { ...TLS, servername: 'proxy.test', alpnProtocols: ['h2', 'http/1.1'] }
    const client = clientOf()
    const target = plainBehind(through(proxy.port, { headers: own, ...(isTls && { tls }) }))
    const headers = HeaderList.of([
      ['proxy-authorization', 'Basic theirs'],
      ['x-a', 'b'],
    ])
    for (const pathAndQuery of ['/a?b', '*']) {
      const request = { method: 'OPTIONS', pathAndQuery, authority: 'Backend.test', headers, body: Buffer.from('x') }
      const response = await client.send(target, request, { deadlineMs: performance.now() + 9000, signal: undefined })
      expect((await response.body.collect(100)).toString()).toBe('forwarded')
    }
    expect(proxy.asked).toEqual(['OPTIONS http://Backend.test/a?b', 'OPTIONS http://Backend.test'])
    const expected = { host: 'Backend.test', 'x-a': 'b', 'proxy-authorization': 'Basic ours', 'content-length': '1' }
    expect(proxy.headers[0]).toMatchObject(expected)
    expect(proxy.sockets.size).toBe(1)
    expect(headers.get('proxy-authorization')).toBe('Basic theirs')
  })

  it('does not share connections with what goes by CONNECT', async () => {
    const backend = await listen(http.createServer(answer))
    const proxy = http.createServer((_request, response) => response.end('forwarded'))
    proxy.on('connect', (_request, socket: net.Socket) => {
      const to = net.connect({ host: '127.0.0.1', port: backend }, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(to).pipe(socket)
      })
      for (const end of [to, socket]) end.on('error', () => to.destroy())
      cleanup.push(() => to.destroy())
    })
    const target = plainBehind(through(await listen(proxy)), 8080)
    const client = clientOf()
    const askAs = async (authority: string): Promise<string> => {
      const request = { method: 'GET', pathAndQuery: '/', authority, headers: new HeaderList(), body: undefined }
      const response = await client.send(target, request, { deadlineMs: performance.now() + 9000, signal: undefined })
      return (await response.body.collect(100)).toString()
    }
    for (let i = 0; i < 2; i++) {
      expect(await askAs('backend.test:8080')).toBe('forwarded')
      expect(await askAs('shop.test')).toBe('shop.test answers')
    }
  })

  it('a proxy that requires credentials fails the call; its challenge is not for the client', async () => {
    const proxy = await forwardProxy(407)
    await expect(ask(clientOf(), plainBehind(through(proxy.port)))).rejects.toThrow(/requires credentials \(407\)/)
    expect(proxy.asked).toEqual(['GET http://backend.test/'])
  })
})

describe('a proxy that', () => {
  it.each([
    ['answers CONNECT with another 2xx', 'HTTP/1.1 204 No\r\n\r\n', /answered 204/],
    ['requires credentials', 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n', /requires credentials \(407\)/],
    ['refuses', 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n', /answered 403/],
    ['is not an HTTP proxy', '220 smtp ready\r\n\r\n', /invalid response/],
    ['talks for ever', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`, /invalid response/],
    ['stays interim', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(9), /interim/],
  ])('%s: the request fails with the reason', async (_what, text, why) => {
    const client = clientOf()
    const port = await answering(text)
    await expect(ask(client, behind(through(port)))).rejects.toThrow(why)
    await expect(ask(client, behind(through(port), { httpVersion: 'HTTP2' }))).rejects.toThrow(why)
  })

  it('is silent: the connect timeout covers all of it', async () => {
    const port = await listen(net.createServer((socket) => socket.resume()))
    const slow = behind(through(port), { connectTimeoutMs: 200 })
    await expect(ask(clientOf(), slow)).rejects.toMatchObject({ code: 'upstreamTimeout' })
  })

  it('leads to a backend that never finishes its handshake: the connect timeout covers that too', async () => {
    const proxy = await connectProxy(await listen(net.createServer((socket) => socket.resume())))
    const slow = behind(through(proxy.port), { connectTimeoutMs: 300, tls: TLS })
    await expect(ask(clientOf(), slow)).rejects.toMatchObject({ code: 'upstreamTimeout' })
    expect(proxy.asked).toEqual(['backend.test:443'])
  })

  it.each([
    ['cannot be used', { problem: 'the secret is missing' }, /the secret is missing/],
    ['has no endpoint', { pick: () => undefined, headers: [] }, /no proxy is ready/],
    ['would get a broken credential', through(1, { headers: ['proxy-authorization', 'a\r\nb: c'] }), /ECONNREFUSED/],
  ])('%s: the call fails', async (_what, way, why) => {
    await expect(ask(clientOf(), behind(way))).rejects.toThrow(why)
  })

  it('is no way for a unix socket', async () => {
    const target = behind(through(1), { unixPath: '/tmp/none' })
    await expect(ask(clientOf(), target)).rejects.toThrow(/unix socket/)
  })

  it('is asked for names in ASCII: other letters cannot become line breaks, or names that were not judged', async () => {
    const proxy = await connectProxy(await listen(net.createServer((socket) => socket.destroy())))
    const asked = (host: string): Promise<DialOutcome> =>
      new Promise((resolve) => dial(behind(through(proxy.port), { host }), new DnsCache(), resolve))
    // Cut to eight bits, the letters are CR, LF and `:`.
    for (const host of ['b\u00fccher.test', 'a\u010d\u010ax-evil\u013a1']) {
      const outcome = await asked(host)
      if ('socket' in outcome) outcome.socket.destroy()
    }
    expect(proxy.asked).toEqual(['xn--bcher-kva.test:443', `${domainToASCII('a\u010d\u010ax-evil\u013a1')}:443`])
    expect(Object.keys(proxy.headers[1] ?? {})).toEqual(['host'])
    for (const host of ['a,b', 'a..b', '\u2028']) {
      expect(await asked(host)).toMatchObject({ code: 'upstreamFailure' })
    }
    expect(proxy.asked).toHaveLength(2)
  })

  it('resolves names, and is never asked for an address that the guard refuses', async () => {
    const guard = { dns: new DnsCache(), admits: () => false }
    for (const host of ['169.254.169.254', '2852039166', '0xa9.0xfe.43518', 'metadata.google.internal', 'localhost.']) {
      await expect(ask(clientOf(), behind(through(1), { host, guard }))).rejects.toThrow(`${host} through a proxy`)
    }
  })
})
