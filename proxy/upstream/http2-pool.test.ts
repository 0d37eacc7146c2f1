// Connections to HTTP/2 backends: sharing, more when full, GOAWAY, refused streams, deadlines, dead backends, TLS.
import { once } from 'node:events'
import net from 'node:net'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { portOf, startUpstream, until } from '../http/server.testing.ts'
import { BLAME_MS } from '../http2/stream-errors.ts'
import {
  ask,
  connect,
  type Http2Backend,
  type ProxyOptions,
  startHttp2Backend,
  startProxy,
} from '../http2/bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})
const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

const H2 = { target: { httpVersion: 'HTTP2' } } satisfies ProxyOptions
const ok = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200 })
  stream.end('ok')
}
const GET = { ':path': '/' }
const POST = { ':path': '/', ':method': 'POST' }

async function backend(onStream: Parameters<typeof startHttp2Backend>[0], streamsMax = 100): Promise<Http2Backend> {
  return keep(await startHttp2Backend(onStream, { settings: { maxConcurrentStreams: streamsMax } }))
}

describe('sessions', () => {
  it('requests one after the other share one', async () => {
    const server = await backend(ok)
    const proxy = keep(await startProxy(server.port, H2))
    const session = keep(connect(proxy.port))
    for (let i = 0; i < 5; i++) expect((await ask(session, GET)).body).toBe('ok')
    expect([server.sessions.length, proxy.client.openConnections, proxy.client.idleConnections]).toEqual([1, 1, 1])
  })

  it('more than the backend allows at once: further sessions, in order, without failures', async () => {
    const held: ServerHttp2Stream[] = []
    const server = await backend((stream) => held.push(stream), 10)
    const proxy = keep(await startProxy(server.port, H2))
    const session = keep(connect(proxy.port))
    const answers = Array.from({ length: 35 }, () => ask(session, GET))
    await until(() => held.length === 35)
    expect(server.sessions.length).toBe(4)
    for (const stream of held) ok(stream)
    expect((await Promise.all(answers)).every(({ body }) => body === 'ok')).toBe(true)
  })
})

describe('shares of clients', () => {
  it('a client that holds many streams waits, and others pass it', async () => {
    const held: ServerHttp2Stream[] = []
    const server = await backend((stream, headers) => {
      if (headers[':path'] === '/slow') held.push(stream)
      else ok(stream)
    }, 1)
    const proxy = keep(
      await startProxy(server.port, {
        ...H2,
        handle(exchange, respond, { client, target }) {
          const address = exchange.request.headers.get('x-from')
          Object.defineProperty(exchange.connection, 'sourceAddress', { value: address })
          client.forward(exchange, target, 'a', respond)
        },
      }),
    )
    const session = keep(connect(proxy.port))
    const from = (address: string, path: string) => ask(session, { ':path': path, 'x-from': address })
    // 64 connections of one stream each.
    const answers = Array.from({ length: 60 }, () => from('10.0.0.1', '/slow'))
    await until(() => proxy.handled.length === 60 && held.length === 48)
    for (let i = 0; i < 3; i++) expect((await from('10.0.0.2', '/')).body).toBe('ok')
    expect(held.length).toBe(48)
    // Those that wait are served when the others have ended.
    await until(() => {
      for (const stream of held.splice(0)) ok(stream)
      return proxy.finished.length === 63
    })
    expect((await Promise.all(answers)).every(({ body }) => body === 'ok')).toBe(true)
  })
})

describe('data beyond content-length', () => {
  it('ends the stream of the response, and no other one of the session', async () => {
    const held: ServerHttp2Stream[] = []
    const server = await backend((stream) => held.push(stream))
    const proxy = keep(await startProxy(server.port, H2))
    const session = keep(connect(proxy.port))
    const [good, bad] = [ask(session, GET), ask(session, GET)]
    await until(() => held.length === 2)
    held[1]?.respond({ ':status': 200, 'content-length': 3 })
    held[1]?.end('abcd')
    expect((await bad).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
    await new Promise((resolve) => {
      setTimeout(resolve, 2 * BLAME_MS)
    })
    if (held[0] !== undefined) ok(held[0])
    expect([(await good).body, server.sessions.length]).toEqual(['ok', 1])
  })
})

describe('GOAWAY and refused streams', () => {
  it('running streams end, new ones go to a new session', async () => {
    const held: ServerHttp2Stream[] = []
    const server = await backend((stream) => {
      if (held.push(stream) > 1) ok(stream)
    })
    const proxy = keep(await startProxy(server.port, H2))
    const session = keep(connect(proxy.port))
    const first = ask(session, GET)
    await until(() => held.length === 1)
    server.sessions[0]?.close()
    await until(() => proxy.client.openConnections === 1)
    expect((await ask(session, GET)).body).toBe('ok')
    expect(server.sessions.length).toBe(2)
    const [one] = held
    if (one !== undefined) ok(one)
    expect((await first).body).toBe('ok')
  })

  it.each([
    ['without a body', GET, undefined],
    ['with a body', POST, 'all of it'],
    ['with a body of many pieces', POST, Buffer.alloc(50_000, 'x').toString()],
  ])('a refused stream is sent again once, %s', async (_name, headers, body) => {
    let seen = 0
    const server = await backend((stream) => {
      if (++seen === 1) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM)
        return
      }
      stream.respond({ ':status': 200 })
      if (body === undefined) stream.end('ok')
      else stream.pipe(stream)
    })
    const proxy = keep(await startProxy(server.port, H2))
    const answer = await ask(keep(connect(proxy.port)), headers, body)
    expect([answer.headers[':status'], answer.body]).toEqual([200, body ?? 'ok'])
    expect(seen).toBe(2)
  })

  it('refused twice: 503', async () => {
    let seen = 0
    const server = await backend((stream) => {
      seen++
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
    })
    const proxy = keep(await startProxy(server.port, H2))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], answer.body, seen]).toEqual([
      503,
      'upstream call failed: the backend closed the stream (REFUSED_STREAM)',
      2,
    ])
    expect(proxy.finished[0]?.exchange.errorDetail).toContain('REFUSED_STREAM')
  })

  it('other resets are not repeated: the backend may have acted', async () => {
    let seen = 0
    const server = await backend((stream) => {
      seen++
      stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
    const proxy = keep(await startProxy(server.port, H2))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], seen]).toEqual([503, 1])
  })
})

describe('deadlines', () => {
  it('a backend that never sends SETTINGS: connect timeout, 504', async () => {
    const silent = keep(await startUpstream(() => {}, { isManual: true }))
    const proxy = keep(await startProxy(silent.port, { target: { httpVersion: 'HTTP2', connectTimeoutMs: 100 } }))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], proxy.finished[0]?.exchange.errorDetail]).toEqual([
      504,
      expect.stringContaining('connect timeout'),
    ])
  })

  it('no listener: 503', async () => {
    const server = net.createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = portOf(server)
    server.close()
    const proxy = keep(await startProxy(port, H2))
    expect((await ask(keep(connect(proxy.port)), GET)).headers[':status']).toBe(503)
  })

  it('a backend that speaks HTTP/1.1: 503', async () => {
    const upstream = keep(await startUpstream((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    const proxy = keep(await startProxy(upstream.port, H2))
    const answer = await ask(keep(connect(proxy.port)), GET)
    const text = 'upstream call failed: the peer does not speak HTTP/2'
    expect([answer.headers[':status'], answer.body]).toEqual([503, text])
  })

  it('no name: 503', async () => {
    const proxy = keep(await startProxy(1, { target: { httpVersion: 'HTTP2', host: 'no.such.host.invalid' } }))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], answer.body]).toEqual([503, 'backends required DNS resolution which failed'])
  })

  it('no answer within the time of an attempt: 504, the stream is reset, the session stays', async () => {
    let seen = 0
    const server = await backend((stream) => {
      if (++seen > 1) ok(stream)
    })
    const proxy = keep(
      await startProxy(server.port, {
        handle(exchange, respond) {
          if (seen === 0) exchange.backendRequestTimeoutMs = 50
          const target = { key: 'k', host: '127.0.0.1', port: server.port, unixPath: undefined, tls: undefined }
          proxy.client.forward(exchange, { ...target, httpVersion: 'HTTP2', connectTimeoutMs: 5000 }, 'a', respond)
        },
      }),
    )
    const session = keep(connect(proxy.port))
    const answer = await ask(session, GET)
    expect([answer.headers[':status'], answer.body]).toEqual([504, 'upstream call timeout'])
    await until(() => server.streams[0]?.destroyed === true)
    expect((await ask(session, GET)).body).toBe('ok')
    expect(server.sessions.length).toBe(1)
  })
})

describe('broken backends', () => {
  it('the connection goes in the middle of a body: reset, not ended', async () => {
    const server = await backend((stream) => {
      stream.respond({ ':status': 200 })
      stream.write('part')
    })
    const proxy = keep(await startProxy(server.port, H2))
    const session = keep(connect(proxy.port))
    const stream = session.request(GET)
    stream.on('error', () => {})
    await once(stream, 'data')
    server.sessions[0]?.socket.destroy()
    await until(() => stream.destroyed)
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(false)
    expect((await ask(session, { ...GET, ':method': 'HEAD' })).headers[':status']).toBe(200)
  })

  it('interim responses without end: 503', async () => {
    const server = await backend((stream) => {
      for (let i = 0; i < 20; i++) stream.additionalHeaders({ ':status': 103, link: '</a>' })
      ok(stream)
    })
    const proxy = keep(await startProxy(server.port, H2))
    expect((await ask(keep(connect(proxy.port)), GET)).headers[':status']).toBe(503)
  })
})
