// The life of a client's connection: drain with GOAWAY, idle and maximum age, keepalive, limits that are announced,
// ALPN.
import { once } from 'node:events'
import http2, { constants } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { answering, OK, startUpstream, until } from '../http/server.testing.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { HttpResponse } from '../message/message.ts'
import {
  answerOf,
  ask,
  connect,
  FrameClient,
  FrameType,
  GET,
  type Proxy,
  type ProxyOptions,
  startProxy,
} from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function start(options: ProxyOptions = {}, response = OK): Promise<Proxy> {
  const upstream = await startUpstream(answering(response))
  const proxy = await startProxy(upstream.port, { target: { httpVersion: 'HTTP1' }, ...options })
  open.push(upstream, proxy)
  return proxy
}

function session(proxy: Proxy): http2.ClientHttp2Session {
  const one = connect(proxy.port)
  open.push(one)
  return one
}

/** Holds every request until `release`. */
function held(): { readonly options: ProxyOptions; readonly release: () => void } {
  const waiting: (() => void)[] = []
  return {
    options: {
      handle(exchange, respond) {
        waiting.push(() => {
          exchange.response = HttpResponse.local(200, 'late')
          respond(exchange)
        })
      },
    },
    release: () => waiting.splice(0).forEach((answer) => answer()),
  }
}

it('drain: notice, then GOAWAY; what runs ends well, then the connection closes', async () => {
  const { options, release } = held()
  const proxy = await start(options)
  const client = session(proxy)
  const running = client.request({ ':path': '/' })
  await until(() => proxy.handled.length === 1)
  const codes: [number, number | undefined][] = []
  client.on('goaway', (code, last) => codes.push([code, last]))
  proxy.server.drain()
  await until(() => codes.length === 2)
  expect(codes).toEqual([
    [constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1],
    [constants.NGHTTP2_NO_ERROR, 1],
  ])
  expect([...proxy.server.running()].length).toBe(1)
  release()
  expect((await answerOf(running)).body).toBe('late')
  await until(() => proxy.server.openConnections === 0 && client.destroyed)
  expect(proxy.finished[0]?.isComplete).toBe(true)
})

it('drain: a client that does not answer the ping gets GOAWAY all the same', async () => {
  const proxy = await start()
  const client = await FrameClient.connect(proxy.port)
  open.push({ close: () => client.socket.destroy() })
  await client.sees(FrameType.Settings)
  proxy.server.drain()
  const now = performance.now()
  proxy.server.sweep(now + 1500)
  await until(() => client.frames.filter(({ type }) => type === FrameType.Goaway).length === 2 || client.isClosed)
  proxy.server.sweep(now + 3000)
  await client.closes()
  await expect.poll(() => proxy.server.openConnections).toBe(0)
})

it('a new connection of a draining server gets GOAWAY', async () => {
  const proxy = await start()
  proxy.server.drain()
  const client = session(proxy)
  const goaway = once(client, 'goaway')
  // The notice leaves room for a request that was on its way.
  const [code] = (await goaway) as [number]
  expect(code).toBe(constants.NGHTTP2_NO_ERROR)
  await until(() => client.destroyed)
})

it('`close` of an exchange drains its connection after the response', async () => {
  const proxy = await start({
    handle(exchange: Exchange, respond) {
      exchange.connection.close()
      exchange.response = HttpResponse.local(200, 'bye')
      respond(exchange)
    },
  })
  const client = session(proxy)
  const goaway = once(client, 'goaway')
  expect((await ask(client, { ':path': '/' })).body).toBe('bye')
  await goaway
  await until(() => client.destroyed && proxy.server.openConnections === 0)
})

it('idle connections and old connections get GOAWAY; busy ones stay until they are done', async () => {
  const { options, release } = held()
  const proxy = await start({ ...options, limits: { idleTimeoutMs: 10_000, maxConnectionDurationMs: 60_000 } })
  const [idle, busy] = [session(proxy), session(proxy)]
  await Promise.all([once(idle, 'connect'), once(busy, 'connect')])
  const running = busy.request({ ':path': '/' })
  await until(() => proxy.handled.length === 1 && proxy.server.openConnections === 2)
  const now = performance.now()
  proxy.server.sweep(now + 11_000)
  await until(() => idle.destroyed)
  expect(busy.closed).toBe(false)
  proxy.server.sweep(now + 61_000)
  await once(busy, 'goaway')
  release()
  expect((await answerOf(running)).body).toBe('late')
  await until(() => busy.destroyed)
})

describe('a body of which nothing more comes', () => {
  const POST = { ':method': 'POST', ':path': '/', 'content-length': '100000' }

  it('gets 408 and the end of its stream; the connection continues', async () => {
    const proxy = await start({ limits: { bodyIdleTimeoutMs: 10_000 } }, '')
    const client = session(proxy)
    const stalled = client.request(POST)
    stalled.write('abc')
    await until(() => proxy.handled.length === 1)
    const answer = answerOf(stalled)
    let now = performance.now()
    await until(() => {
      // The data may have come since the last look.
      now += 11_000
      proxy.server.sweep(now)
      return proxy.finished.length === 1
    })
    expect(await answer).toMatchObject({ headers: { ':status': 408 }, rstCode: 0 })
    expect(proxy.finished[0]?.exchange.failure).toBe('requestTimeoutRead')
    expect(client.closed).toBe(false)
  })

  it('is waited for in a call of gRPC, whose messages may be far apart', async () => {
    const proxy = await start({ limits: { bodyIdleTimeoutMs: 10_000 } }, '')
    const client = session(proxy)
    const stream = client.request({ ':method': 'POST', ':path': '/', 'content-type': 'application/grpc' })
    stream.on('error', () => {})
    stream.write('abc')
    await until(() => proxy.handled.length === 1)
    const now = performance.now()
    proxy.server.sweep(now)
    proxy.server.sweep(now + 11_000)
    expect([stream.closed, proxy.finished.length]).toEqual([false, 0])
    stream.close()
  })
})

it('keepalive: a ping when nothing came, and the end without an answer', { tags: ['full'] }, async () => {
  const http2Options = { keepaliveIntervalMs: 5000, keepaliveTimeoutMs: 2000 }
  const proxy = await start({ limits: { http2: http2Options } })
  const live = session(proxy)
  await once(live, 'connect')
  const dead = await FrameClient.connect(proxy.port)
  open.push({ close: () => dead.socket.destroy() })
  await until(() => proxy.server.openConnections === 2)
  let pings = 0
  live.on('ping', () => pings++)
  const pinged = once(live, 'ping')
  const now = performance.now()
  proxy.server.sweep(now + 6000)
  await pinged
  await dead.sees(FrameType.Ping)
  // The answer of the live one is here before an answer to a later request is.
  await ask(live, { ':path': '/' })
  proxy.server.sweep(now + 8500)
  await dead.closes()
  expect((await ask(live, { ':path': '/' })).body).toBe('ok')
  // The next one is due an interval after the first.
  proxy.server.sweep(now + 10_900)
  expect((await ask(live, { ':path': '/' })).body).toBe('ok')
  expect(pings).toBe(1)
  proxy.server.sweep(now + 11_100)
  await until(() => pings === 2)
})

it('announces its limits', async () => {
  const proxy = await start()
  const client = session(proxy)
  await once(client, 'remoteSettings')
  expect(client.remoteSettings).toMatchObject({
    maxConcurrentStreams: 100,
    maxHeaderListSize: 16_384,
    initialWindowSize: 65_535,
    maxFrameSize: 16_384,
  })
})

it('announces limits of the configuration', async () => {
  const options = { windowBytes: 200_000, connectionWindowBytes: 2_000_000, frameBytes: 32_768, headerBytesMax: 4096 }
  const proxy = await start({ limits: { http2: options } })
  const client = session(proxy)
  await once(client, 'remoteSettings')
  expect(client.remoteSettings).toMatchObject({
    maxHeaderListSize: 4096,
    initialWindowSize: 200_000,
    maxFrameSize: 32_768,
  })
  await until(() => client.state.remoteWindowSize === 2_000_000)
})

it('a body that does not come is waited for no longer than the idle time', async () => {
  const proxy = await start({
    limits: { idleTimeoutMs: 10_000 },
    handle(exchange, respond) {
      const { body } = exchange.request
      if (body === undefined || Buffer.isBuffer(body)) throw new Error('no body')
      body.collect(100).catch(() => {
        exchange.fail('invalidRequest')
        respond(exchange)
      })
    },
  })
  const client = session(proxy)
  const stream = client.request({ ':method': 'POST', ':path': '/' })
  stream.write('x')
  await until(() => proxy.handled.length === 1)
  const closed = answerOf(stream)
  const now = performance.now()
  for (let seconds = 0; seconds <= 12; seconds++) proxy.server.sweep(now + seconds * 1000)
  expect((await closed).headers[':status']).toBe(408)
  await until(() => proxy.finished.length === 1 && proxy.server.activeRequests === 0)
})

it('an exchange knows the address of its client', async () => {
  const proxy = await start()
  const client = await FrameClient.connect(proxy.port)
  open.push({ close: () => client.socket.destroy() })
  client.headers(1, GET)
  await client.sees(FrameType.Data, 1)
  expect(proxy.handled[0]?.connection).toMatchObject({
    sourceAddress: '127.0.0.1',
    isTls: false,
    localPort: proxy.port,
  })
})

it('a client that ends its connection has gone: what it asked for is given up, and nothing stays open', async () => {
  const { options, release } = held()
  const proxy = await start(options)
  const client = await FrameClient.connect(proxy.port)
  open.push({ close: () => client.socket.destroy() })
  client.headers(1, GET)
  await until(() => proxy.handled.length === 1)
  client.socket.end()
  await until(() => proxy.server.openConnections === 0)
  expect(proxy.handled[0]?.connection.signal.aborted).toBe(true)
  release()
  expect(proxy.server.activeRequests).toBe(0)
  expect(proxy.finished.map(({ isComplete }) => isComplete)).toEqual([false])
})
