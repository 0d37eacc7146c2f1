// WebSocket between HTTP/1.1 and HTTP/2 in all four pairs (RFC 6455, RFC 8441): the `ws` client and server where it is
// HTTP/1.1, node:http2 with frames written by hand where it is HTTP/2.
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { type ClientHttp2Session, type ClientHttp2Stream, constants, type ServerHttp2Stream } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { portOf, RawClient, startUpstream, until } from '../http/server.testing.ts'
import { TUNNEL_IDLE_MS } from '../socket/tunnel-watch.ts'
import { connect, type Http2Backend, type Proxy, startHttp2Backend, startProxy } from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A text frame of a client with a mask of zeros, and as a server sends it. */
const ASKED = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
const ANSWERED = Buffer.from([0x81, 0x02, 0x68, 0x69])

/** An HTTP/1.1 backend that gives back every message. */
async function http1Backend(): Promise<{ port: number; heads: http.IncomingMessage[]; sockets: WebSocket[] }> {
  const server = http.createServer((_request, response) => response.end('plain'))
  const heads: http.IncomingMessage[] = []
  const sockets: WebSocket[] = []
  const sockServer = new WebSocketServer({ server, handleProtocols: () => 'chat' })
  sockServer.on('connection', (socket, request) => {
    heads.push(request)
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close() {
      for (const socket of sockets) socket.terminate()
      server.closeAllConnections()
      server.close()
    },
  })
  return { port: portOf(server), heads, sockets }
}

/** An HTTP/2 backend that runs `onStream` for each extended CONNECT. */
async function http2Backend(
  onStream: (stream: ServerHttp2Stream) => void,
  options = { settings: { enableConnectProtocol: true } },
): Promise<Http2Backend> {
  const backend = await startHttp2Backend((stream, headers) => {
    if (headers[':protocol'] === 'websocket') onStream(stream)
    else {
      stream.respond({ ':status': 200 })
      stream.end('plain')
    }
  }, options)
  open.push(backend)
  return backend
}

/** Of no connection yet. The types leave out that options are needed. */
function serverSocket(): WebSocket {
  const make = WebSocket as unknown as new (address: null, protocols: undefined, options: object) => WebSocket
  return new make(null, undefined, {})
}

/** Speaks WebSocket on the stream, as a server. */
function speak(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat' })
  const socket = serverSocket()
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  socket.on('error', () => {})
  // Not in the types: how ws itself takes over the connection of an upgrade.
  const internal = socket as unknown as { setSocket(stream: unknown, head: Buffer, options: object): void }
  internal.setSocket(stream, Buffer.alloc(0), { maxPayload: 1 << 20, skipUTF8Validation: false })
}

async function through(port: number, httpVersion: 'HTTP1' | 'HTTP2'): Promise<Proxy> {
  const proxy = await startProxy(port, { target: { httpVersion } })
  open.push(proxy)
  return proxy
}

async function opened(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/room?x=1`, ['chat'])
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}

async function echo(socket: WebSocket, text: string | Buffer): Promise<string> {
  const answer = once(socket, 'message')
  socket.send(text)
  return String((await answer)[0])
}

const UPGRADE = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\n'

const EXTENDED = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':path': '/room?x=1',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'chat',
}

async function session(port: number): Promise<ClientHttp2Session> {
  const client = connect(port)
  open.push(client)
  await once(client, 'remoteSettings')
  return client
}

async function answer(stream: ClientHttp2Stream): Promise<Record<string, unknown>> {
  stream.on('error', () => {})
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>] // what the event carries
  return headers
}

describe('HTTP/1.1 client', () => {
  it('to an HTTP/2 backend: an extended CONNECT', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const socket = await opened(proxy.port)
    expect(socket.protocol).toBe('chat')
    expect(await echo(socket, 'hello')).toBe('hello')
    expect((await echo(socket, 'x'.repeat(500_000))).length).toBe(500_000)
    const { headers, raw } = backend.requests[0] ?? { headers: {}, raw: [] }
    expect(headers).toMatchObject({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/room?x=1' })
    expect(headers['sec-websocket-version']).toBe('13')
    expect(raw.filter((name) => /^(connection|upgrade|sec-websocket-key)$/.test(name))).toEqual([])
    const closed = once(socket, 'close')
    socket.close(4001, 'bye')
    expect((await closed)[0]).toBe(4001)
    await until(() => proxy.finished.length === 1, 'the end of the exchange')
    expect(proxy.finished[0]?.isComplete).toBe(true)
    expect(proxy.client.openConnections).toBe(1)
  })

  it('the connection is shared with other requests, and is free again', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const sockets = await Promise.all(Array.from({ length: 5 }, () => opened(proxy.port)))
    expect(await (await fetch(`http://127.0.0.1:${proxy.port}/`)).text()).toBe('plain')
    expect(await Promise.all(sockets.map((socket, at) => echo(socket, `n${at}`)))).toEqual([
      'n0',
      'n1',
      'n2',
      'n3',
      'n4',
    ])
    expect(backend.sessions.length).toBe(1)
    for (const socket of sockets) socket.terminate()
    await until(() => backend.streams.every(({ destroyed }) => destroyed), 'the streams are gone')
    await until(() => proxy.client.idleConnections === 1, 'the connection is idle')
  })

  it('falls back to HTTP/1.1 where the backend does not offer it', async () => {
    const plain = await http1Backend()
    const backend = await startHttp2Backend(() => {}, { settings: { enableConnectProtocol: false } })
    const upstream = await startUpstream(() => {}, { isManual: true })
    open.push(backend, upstream)
    // One address that speaks both, as Go servers do.
    const both = net.createServer((socket) => {
      socket.once('data', (chunk: Buffer) => {
        const other = net.connect(chunk.toString('latin1').startsWith('PRI') ? backend.port : plain.port, '127.0.0.1')
        for (const end of [socket, other]) end.on('error', () => {})
        other.write(chunk)
        socket.pipe(other).pipe(socket)
      })
    })
    both.listen(0, '127.0.0.1')
    await once(both, 'listening')
    open.push(both)
    const proxy = await through(portOf(both), 'HTTP2')
    const socket = await opened(proxy.port)
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(plain.heads[0]?.headers.upgrade).toBe('websocket')
    socket.terminate()
  })

  it('gets the answer of a backend that refuses', async () => {
    const backend = await http2Backend((stream) => {
      stream.respond({ ':status': 403 })
      stream.end('no')
    })
    const proxy = await through(backend.port, 'HTTP2')
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/`)
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
    expect(response.statusCode).toBe(403)
  })

  it('gets 502 from a backend that ends the stream with a 200', async () => {
    const backend = await http2Backend((stream) => stream.respond({ ':status': 200 }, { endStream: true }))
    const proxy = await through(backend.port, 'HTTP2')
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/`)
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
    expect(response.statusCode).toBe(502)
  })

  it('sees the connection break when the stream is reset, and the other way around', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const first = await opened(proxy.port)
    const closed = once(first, 'close')
    backend.streams[0]?.close(2)
    expect((await closed)[0]).toBe(1006)
    const second = await RawClient.connect(proxy.port)
    await second.send(UPGRADE).sees('101 Switching Protocols')
    second.socket.resetAndDestroy()
    await until(() => backend.streams[1]?.destroyed === true, 'the stream is gone')
    expect(backend.streams[1]?.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })
})

describe('HTTP/2 client', () => {
  it('is offered the protocol', async () => {
    const proxy = await through((await http1Backend()).port, 'HTTP1')
    expect((await session(proxy.port)).remoteSettings.enableConnectProtocol).toBe(true)
  })

  it.each(['HTTP1', 'HTTP2'] as const)('to a backend of %s', async (version) => {
    const plain = await http1Backend()
    const backend = await http2Backend(speak)
    const proxy = await through(version === 'HTTP1' ? plain.port : backend.port, version)
    const stream = (await session(proxy.port)).request(EXTENDED, { endStream: false })
    const headers = await answer(stream)
    expect([headers[':status'], headers['sec-websocket-protocol']]).toEqual([200, 'chat'])
    expect([headers['sec-websocket-accept'], headers['upgrade'], headers['connection']]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    const got: Buffer[] = []
    stream.on('data', (chunk: Buffer) => got.push(chunk))
    stream.write(ASKED)
    await until(() => Buffer.concat(got).equals(ANSWERED), 'the echo')
    if (version === 'HTTP1') expect([plain.heads[0]?.method, plain.heads[0]?.url]).toEqual(['GET', '/room?x=1'])
    else expect(backend.requests[0]?.headers['sec-websocket-key']).toBeUndefined()
    stream.end()
    await once(stream, 'close')
    await until(() => proxy.finished.length === 1, 'the end of the exchange')
    const exchange = proxy.finished[0]?.exchange
    expect([exchange?.response?.status, exchange?.request.upgrade, exchange?.responseBytes]).toEqual([
      200,
      'websocket',
      ANSWERED.length,
    ])
  })

  it.each([
    ['a plain 200', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['another key', 'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n'],
    ['no key', 'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  ])('gets 502 for %s, never a tunnel', async (_name, response) => {
    const upstream = await startUpstream((socket, text) => {
      if (text.endsWith('\r\n\r\n')) socket.write(response)
    })
    open.push(upstream)
    const proxy = await through(upstream.port, 'HTTP1')
    const stream = (await session(proxy.port)).request(EXTENDED, { endStream: false })
    expect((await answer(stream))[':status']).toBe(502)
    stream.close()
    await until(() => upstream.sockets[0]?.destroyed === true || upstream.sockets.length === 1, 'the backend is left')
  })

  it.each([
    ['another protocol', { ...EXTENDED, ':protocol': 'connect-udp' }, 501],
    ['a length', { ...EXTENDED, 'content-length': '5' }, 400],
  ])('is refused with %s', async (_name, headers, status) => {
    const proxy = await through((await http1Backend()).port, 'HTTP1')
    const stream = (await session(proxy.port)).request(headers, { endStream: false })
    expect((await answer(stream))[':status']).toBe(status)
    expect(proxy.handled).toEqual([])
    stream.close()
  })

  it('leaves: the backend gets the end', async () => {
    const plain = await http1Backend()
    const proxy = await through(plain.port, 'HTTP1')
    const stream = (await session(proxy.port)).request(EXTENDED, { endStream: false })
    await answer(stream)
    const closed = once(plain.sockets[0] ?? serverSocket(), 'close')
    stream.close(8)
    expect((await closed)[0]).toBe(1006)
  })
})

describe('idle tunnels', () => {
  it('of HTTP/2 clients end after an hour without a byte', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const stream = (await session(proxy.port)).request(EXTENDED, { endStream: false })
    await answer(stream)
    const nowMs = performance.now()
    proxy.server.sweep(nowMs)
    proxy.server.sweep(nowMs + TUNNEL_IDLE_MS - 1)
    expect(stream.closed).toBe(false)
    proxy.server.sweep(nowMs + TUNNEL_IDLE_MS)
    await until(() => stream.closed, 'the end of the stream')
  })

  it('of HTTP/1.1 clients as well', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const client = await RawClient.connect(proxy.port)
    await client.send(UPGRADE).sees('101 Switching Protocols')
    const real = performance.now.bind(performance)
    let aheadMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs)
    for (let turn = 0; turn < 500 && !client.isEnded; turn++) {
      aheadMs += TUNNEL_IDLE_MS
      await delay(10)
    }
    clock.mockRestore()
    expect(client.isEnded).toBe(true)
    await until(() => backend.streams[0]?.destroyed === true, 'the end of the stream')
  })

  it('not before, when something moved', async () => {
    const backend = await http2Backend(speak)
    const proxy = await through(backend.port, 'HTTP2')
    const stream = (await session(proxy.port)).request(EXTENDED, { endStream: false })
    await answer(stream)
    let bytes = 0
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
    const nowMs = performance.now()
    proxy.server.sweep(nowMs)
    stream.write(ASKED)
    await until(() => bytes === ANSWERED.length, 'the echo')
    proxy.server.sweep(nowMs + TUNNEL_IDLE_MS)
    proxy.server.sweep(nowMs + 2 * TUNNEL_IDLE_MS - 1)
    expect(stream.closed).toBe(false)
  })
})

describe('half-close', () => {
  it('a client that is done sending still hears the backend', async () => {
    const backend = await http2Backend((stream) => {
      stream.respond({ ':status': 200 })
      stream.resume()
      stream.once('end', () => stream.end('late'))
    })
    const proxy = await through(backend.port, 'HTTP2')
    const client = await RawClient.connect(proxy.port)
    await client.send(UPGRADE).sees('101 Switching Protocols')
    client.socket.end('last')
    await client.sees('late')
    expect(await client.ends()).toMatch(/late$/)
  })

  it('a backend that is done sending still hears the client', async () => {
    let heard = ''
    const backend = await http2Backend((stream) => {
      stream.respond({ ':status': 200 })
      stream.on('data', (chunk: Buffer) => (heard += String(chunk)))
      stream.end('first')
    })
    const proxy = await through(backend.port, 'HTTP2')
    const client = await RawClient.connect(proxy.port)
    client.send(UPGRADE)
    await client.sees('first')
    await until(() => client.isEnded, 'half-close')
    client.send('still here')
    await until(() => heard !== '', 'the bytes behind the half-close')
    expect(heard).toBe('still here')
    client.socket.end()
  })
})
