// What hostile clients send: their connection ends, others are served, and nothing of it reaches a backend as something
// else.
import { constants, type ClientHttp2Session } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { answering, OK, settled, startUpstream, until, type Upstream } from '../http/server.testing.ts'
import { CONTROLS, RESETS } from './limits.ts'
import {
  ask,
  connect,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameClient,
  FrameType,
  GET,
  headerBlock,
  POST,
  type Proxy,
  type ProxyOptions,
  startProxy,
} from './bind-server.testing.ts'
import { madeStream } from '../message/made-stream.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

interface Scene {
  readonly proxy: Proxy
  readonly upstream: Upstream
  readonly attacker: FrameClient
  /** An honest client on its own connection. */
  readonly other: ClientHttp2Session
}

async function scene(options: ProxyOptions = {}, response: Parameters<typeof answering>[0] = OK): Promise<Scene> {
  const upstream = await startUpstream(answering(response))
  const proxy = await startProxy(upstream.port, { target: { httpVersion: 'HTTP1' }, ...options })
  const other = connect(proxy.port)
  const attacker = await FrameClient.connect(proxy.port)
  open.push(upstream, proxy, other, { close: () => attacker.socket.destroy() })
  await until(() => proxy.server.openConnections === 2)
  return { proxy, upstream, attacker, other }
}

const HANGS: ProxyOptions = { handle: () => {} }
const reset = (stream: number, code: number = constants.NGHTTP2_CANCEL): Buffer =>
  frame(FrameType.Reset, 0, stream, Buffer.from([0, 0, 0, code]))
const BLOCK = headerBlock(GET)
const get = (stream: number): Buffer => frame(FrameType.Headers, END_STREAM | END_HEADERS, stream, BLOCK)

/** Requests that all start, in small groups, each ended by what `end` makes. */
async function oneByOne(proxy: Proxy, attacker: FrameClient, end: (stream: number) => Buffer): Promise<void> {
  for (let first = 1; first < 8000 && !attacker.isClosed; first += 40) {
    const streams = Array.from({ length: 20 }, (_, i) => first + 2 * i)
    const expected = proxy.handled.length + streams.length
    attacker.write(...streams.map(get))
    await until(() => proxy.handled.length >= expected || attacker.isClosed)
    attacker.write(...streams.map(end))
  }
}

describe('floods', () => {
  it('rapid reset: few requests start, GOAWAY, closed; others are served', async () => {
    const { proxy, attacker, other } = await scene()
    const frames: Buffer[] = []
    for (let stream = 1; stream < 40_000; stream += 2) frames.push(get(stream), reset(stream))
    attacker.write(...frames)
    await attacker.closes()
    expect(proxy.handled.length).toBeLessThan(3 * RESETS.burst)
    expect((await ask(other, { ':path': '/' })).body).toBe('ok')
    await until(() => proxy.server.activeRequests === 0 && proxy.server.openConnections === 1)
    expect(proxy.finished.length).toBe(proxy.handled.length)
  })

  it('slow rapid reset, below the native limit of one read: own counter, ENHANCE_YOUR_CALM', async () => {
    const { proxy, attacker } = await scene(HANGS)
    await oneByOne(proxy, attacker, reset)
    await attacker.closes()
    expect(attacker.goawayCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect(proxy.handled.length).toBeLessThan(RESETS.burst * 3)
    expect(proxy.refused.at(-1)).toMatchObject({ status: 429 })
  })

  it('resets that the server is made to send count as well', async () => {
    const { proxy, attacker, other } = await scene(HANGS)
    // A window update of nothing is an error of the stream (RFC 9113 section 6.9.1).
    const nothing = (stream: number): Buffer => frame(FrameType.WindowUpdate, 0, stream, Buffer.alloc(4))
    await oneByOne(proxy, attacker, nothing)
    await attacker.closes()
    expect(proxy.handled.length).toBeLessThan(RESETS.burst * 3)
    expect(other.closed).toBe(false)
  })

  it('more streams than allowed: the rest is not run', async () => {
    const { proxy, attacker } = await scene(HANGS)
    // The limit binds a client that has acknowledged it; streams of others are only refused (RFC 9113 section 6.5.3).
    await attacker.sees(FrameType.Settings)
    attacker.write(frame(FrameType.Ping, 0, 0, Buffer.alloc(8)))
    await attacker.sees(FrameType.Ping)
    const frames: Buffer[] = []
    for (let stream = 1; stream <= 2 * 150; stream += 2) frames.push(get(stream))
    attacker.write(...frames)
    await attacker.closes()
    expect([proxy.handled.length, attacker.goawayCode]).toEqual([100, constants.NGHTTP2_PROTOCOL_ERROR])
  })

  it.each([
    ['ping', frame(FrameType.Ping, 0, 0, Buffer.alloc(8))],
    ['settings', frame(FrameType.Settings, 0, 0)],
  ])('%s: ENHANCE_YOUR_CALM', async (_name, one) => {
    const { attacker, other } = await scene()
    const many = Buffer.concat(Array.from({ length: 100 }, () => one))
    for (let sent = 0; sent < CONTROLS.burst * 3 && !attacker.isClosed; sent += 100) {
      attacker.write(many)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    await attacker.closes()
    expect(attacker.goawayCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect((await ask(other, { ':path': '/' })).body).toBe('ok')
  })

  it('pings that go with data are honest', async () => {
    const { proxy, attacker } = await scene({
      handle(exchange, respond) {
        const { body } = exchange.request
        if (body === undefined || Buffer.isBuffer(body)) throw new Error('no body')
        void body.collect(1_000_000).then(() => {
          exchange.fail('routeNotFound')
          respond(exchange)
        })
      },
    })
    attacker.headers(1, POST, END_HEADERS)
    for (let i = 0; i < CONTROLS.burst * 2; i++) {
      attacker.write(frame(FrameType.Data, 0, 1, 'x'), frame(FrameType.Ping, 0, 0, Buffer.alloc(8)))
      if (i % 100 === 0) {
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
      }
    }
    attacker.write(frame(FrameType.Data, END_STREAM, 1))
    await attacker.sees(FrameType.Headers, 1)
    expect([attacker.isClosed, proxy.handled.length]).toEqual([false, 1])
  })

  it('CONTINUATION without end', async () => {
    const { proxy, attacker, other } = await scene()
    attacker.headers(1, GET, END_STREAM)
    const more = frame(FrameType.Continuation, 0, 1, headerBlock([['x-a', 'b'.repeat(100)]]))
    for (let i = 0; i < 20_000 && !attacker.isClosed; i++) {
      attacker.write(more)
      if (i % 50 === 0) {
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
      }
    }
    await attacker.closes()
    expect(proxy.handled).toEqual([])
    expect((await ask(other, { ':path': '/' })).body).toBe('ok')
  })

  it('header bomb: one large field, repeated from the table', async () => {
    const { proxy, attacker, other } = await scene()
    const size = 4000
    const prefix = Buffer.from([0x40, 3, ...Buffer.from('x-a'), 127, ((size - 127) & 127) | 128, (size - 127) >> 7])
    // Into the dynamic table (index 62), then 4000 times by its index.
    const bomb = Buffer.concat([BLOCK, prefix, Buffer.alloc(size, 'a'), Buffer.alloc(4000, 0x80 | 62)])
    attacker.write(frame(FrameType.Headers, END_STREAM | END_HEADERS, 1, bomb))
    await until(() => attacker.isClosed || attacker.frames.some(({ stream }) => stream === 1))
    expect(proxy.handled).toEqual([])
    expect((await ask(other, { ':path': '/' })).body).toBe('ok')
  })

  it('too many and too large fields never reach a handler', async () => {
    const { proxy, other } = await scene()
    const large = await ask(other, { ':path': '/', 'x-a': 'a'.repeat(17_000) })
    expect([431, undefined]).toContain(large.headers[':status'])
    const many = Object.fromEntries(Array.from({ length: 140 }, (_, i) => [`x-${i}`, 'a']))
    const answer = await ask(connectTo(proxy), { ':path': '/', ...many })
    expect(answer.headers[':status']).toBeUndefined()
    expect(proxy.handled).toEqual([])
  })
})

function connectTo(proxy: Proxy): ClientHttp2Session {
  const session = connect(proxy.port)
  open.push(session)
  return session
}

describe('a client that never opens its window', () => {
  it('holds little, and is cut by the sweep', async () => {
    const produced = { bytes: 0 }
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        produced.bytes += 65_536
        yield Buffer.alloc(65_536)
        await Promise.resolve()
      }
    }
    const { proxy } = await scene({
      handle(exchange, respond) {
        exchange.fail('internal')
        if (exchange.response !== undefined) exchange.response.body = madeStream(endless(), () => {})
        respond(exchange)
      },
    })
    // INITIAL_WINDOW_SIZE 0.
    const attacker = await FrameClient.connect(proxy.port, Buffer.from([0, 4, 0, 0, 0, 0]))
    open.push({ close: () => attacker.socket.destroy() })
    for (let stream = 1; stream < 200; stream += 2) attacker.write(get(stream))
    await attacker.sees(FrameType.Headers, 199)
    await settled(() => produced.bytes)
    expect(produced.bytes).toBeLessThan(100 * 3 * 65_536)
    const now = performance.now()
    for (let seconds = 0; seconds <= 120; seconds++) proxy.server.sweep(now + seconds * 1000)
    await until(() => proxy.finished.length === 100)
    expect(proxy.finished.every(({ isComplete }) => !isComplete)).toBe(true)
    expect(proxy.server.activeRequests).toBe(0)
  })
})

describe('malformed requests', () => {
  const extended = GET.map(([n, v]) => [n, n === ':method' ? 'CONNECT' : v] as const)
  const without = (name: string): (readonly [string, string])[] => GET.filter(([known]) => known !== name)
  const cases: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    ['no :method', without(':method')],
    ['no :path', without(':path')],
    ['no :scheme', without(':scheme')],
    ['no :authority and no host', without(':authority')],
    ['empty :path', [...without(':path'), [':path', '']]],
    [':path without a slash', [...without(':path'), [':path', 'a']]],
    [':path with a space', [...without(':path'), [':path', '/a b']]],
    [':path with a hidden step', [...without(':path'), [':path', '/a/..;/b']]],
    [':path with CRLF', [...without(':path'), [':path', '/ HTTP/1.1\r\nx: y']]],
    [':path with a fragment', [...without(':path'), [':path', '/a#b']]],
    [':method with CRLF', [[':method', 'GET / HTTP/1.1\r\nx: '], ...without(':method')]],
    [':authority with a path', [...without(':authority'), [':authority', 'a/b']]],
    [':authority with userinfo', [...without(':authority'), [':authority', 'u@a']]],
    [':authority with CRLF', [...without(':authority'), [':authority', 'a\r\nx: y']]],
    ['another scheme', [...without(':scheme'), [':scheme', 'file']]],
    ['unknown pseudo field', [...GET, [':x', 'y']]],
    ['pseudo field twice', [...GET, [':path', '/b']]],
    ['pseudo field of responses', [...GET, [':status', '200']]],
    ['pseudo field behind others', [...without(':path'), ['a', 'b'], [':path', '/']]],
    ['GET with :protocol', [...GET, [':protocol', 'websocket']]],
    ['extended CONNECT of another protocol', [...extended, [':protocol', 'connect-udp']]],
    ['extended CONNECT without :path', [...extended.filter(([n]) => n !== ':path'), [':protocol', 'websocket']]],
    ['extended CONNECT twice', [...extended, [':protocol', 'websocket'], [':protocol', 'websocket']]],
    ['extended CONNECT with a length', [...extended, [':protocol', 'websocket'], ['content-length', '1']]],
    ['upper case', [...GET, ['X-A', 'b']]],
    ['connection', [...GET, ['connection', 'close']]],
    ['keep-alive', [...GET, ['keep-alive', '1']]],
    ['proxy-connection', [...GET, ['proxy-connection', 'close']]],
    ['transfer-encoding', [...GET, ['transfer-encoding', 'chunked']]],
    ['upgrade', [...GET, ['upgrade', 'websocket']]],
    ['te other than trailers', [...GET, ['te', 'gzip']]],
    ['host against :authority', [...GET, ['host', 'b']]],
    ['two lengths', [...GET, ['content-length', '0'], ['content-length', '0']]],
    ['length of no number', [...GET, ['content-length', '+1']]],
    ['length without a body', [...GET, ['content-length', '5']]],
    ['other expectation', [...GET, ['expect', 'x']]],
  ]

  it.each(cases)('%s: never reaches a backend', async (_name, fields) => {
    const { proxy, upstream, attacker, other } = await scene()
    attacker.headers(1, fields)
    await until(() => attacker.isClosed || attacker.frames.some(({ stream }) => stream === 1))
    const answer = attacker.frames.find(({ stream }) => stream === 1)
    // Reset, refused with a status, or the whole connection closed.
    expect([FrameType.Reset, FrameType.Headers, undefined]).toContain(answer?.type)
    expect((await ask(other, { ':path': '/other' })).body).toBe('ok')
    expect(proxy.handled.map(({ request }) => request.path)).toEqual(['/other'])
    expect(upstream.received().split('HTTP/1.1\r\n').length).toBe(2)
  })
})

describe('invalid fields', () => {
  it.each([
    ['name with a space', ['x a', 'b']],
    ['empty name', ['', 'b']],
    ['name with CRLF', ['x\r\ny', 'b']],
    ['value with LF', ['x', 'a\nb: c']],
    ['value with CR', ['x', 'a\rb']],
    ['value with NUL', ['x', 'a\0b']],
    ['value with a space in front', ['x', ' a']],
  ] as const)('%s: dropped or refused, never passed on', async (_name, field) => {
    const { upstream, attacker } = await scene()
    attacker.headers(1, [...GET, field])
    await until(() => attacker.isClosed || attacker.frames.some(({ stream }) => stream === 1))
    const seen = upstream.received()
    expect(['', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n']).toContain(seen)
  })
})

describe('smuggling to an HTTP/1.1 backend', () => {
  const SMUGGLED = 'GET /admin HTTP/1.1\r\nhost: a\r\n\r\n'
  const END = 'end'
  const post = (...fields: (readonly [string, string])[]): (readonly [string, string])[] => [...POST, ...fields]

  it.each([
    ['H2.CL: shorter than the data', post(['content-length', '0'])],
    ['H2.CL: longer than the data', post(['content-length', String(SMUGGLED.length + 10)])],
    ['H2.TE', post(['transfer-encoding', 'chunked'])],
  ])('%s: the backend sees no whole request', async (_name, fields) => {
    const { proxy, upstream, attacker, other } = await scene()
    attacker.headers(1, fields, END_HEADERS).write(frame(FrameType.Data, END_STREAM, 1, SMUGGLED))
    await until(() => attacker.isClosed || attacker.frames.some(({ type }) => type === FrameType.Reset))
    expect((await ask(other, { ':path': '/other' })).body).toBe('ok')
    await until(() => proxy.server.activeRequests === 0)
    const seen = upstream.received()
    // Nothing that an HTTP/1.1 parser could take for a second request: what there was stayed inside announced framing.
    expect(seen).not.toMatch(/content-length: 0\r\n(?:[^\r]*\r\n)*\r\nGET \/admin/)
    expect(seen.includes('GET /admin') && !seen.includes('content-length: 45')).toBe(false)
  })

  it.each([
    ['more in one frame', '3', ['abcd']],
    ['more in a later frame', '3', ['abc', 'd']],
    ['more long after', '3', ['ab', '', 'cd']],
    ['any for a length of 0', '0', ['d']],
    ['too few', '5', ['abc', END]],
    ['too few in frames', '5', ['ab', 'c', END]],
  ])(
    'data that is not the announced length, %s: the stream ends, the connection continues',
    async (_name, length, parts) => {
      const { proxy, attacker } = await scene({}, (request) => (request.startsWith('POST') ? '' : OK))
      attacker.headers(1, post(['content-length', length]), END_HEADERS)
      await until(() => proxy.handled.length === 1)
      for (const part of parts) {
        const last = part === END ? END_STREAM : 0
        attacker.write(frame(FrameType.Data, last, 1, part === END ? '' : part))
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
      }
      await attacker.sees(FrameType.Reset, 1)
      expect(attacker.frames.find(({ type }) => type === FrameType.Reset)?.payload.readUInt32BE(0)).toBe(
        constants.NGHTTP2_PROTOCOL_ERROR,
      )
      attacker.headers(3, GET)
      await attacker.sees(FrameType.Data, 3)
      expect([attacker.isClosed, attacker.goawayCode]).toEqual([false, undefined])
      await until(() => proxy.server.activeRequests === 0)
    },
  )

  it('a body without length travels in chunks, whatever it looks like', async () => {
    const { upstream, attacker } = await scene()
    const body = `0\r\n\r\n${SMUGGLED}`
    attacker.headers(1, POST, END_HEADERS).write(frame(FrameType.Data, END_STREAM, 1, body))
    await until(() => upstream.received().endsWith('0\r\n\r\n'))
    expect(upstream.received()).toContain(
      `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
  })

  it('cookies that came apart are one field', async () => {
    const { upstream, attacker } = await scene()
    attacker.headers(1, [...GET, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2']])
    await attacker.sees(FrameType.Data, 1)
    expect(upstream.received()).toContain('cookie: a=1; b=2\r\n')
  })
})
