// Peers that do not behave: silence, garbage, resets, refusals, answers that are not gRPC. No call may hang, and the
// next one to a healed peer must work.
import { create } from '@bufbuild/protobuf'
import { once } from 'node:events'
import http2, { type ServerHttp2Stream } from 'node:http2'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
  RateLimitService,
  type RateLimitResponse,
} from '../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { createGrpcClient, type GrpcClient } from './client.ts'
import { frameOf } from './framing.ts'
import { grpcServer, plainTarget, unaryMethod, until, type GrpcTestServer } from './server.testing.ts'
import { GrpcError, GrpcStatus } from './status.ts'

const { shouldRateLimit } = RateLimitService.method

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

function newClient(): GrpcClient {
  const client = createGrpcClient()
  open.push(() => client.close())
  return client
}

async function tcpServer(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port // a listening TCP server has one
}

async function http2Server(onStream: (stream: ServerHttp2Stream, count: number) => void): Promise<number> {
  let count = 0
  const server = http2.createServer()
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream) => {
    stream.on('error', () => undefined)
    onStream(stream, ++count)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.close()
    for (const session of sessions) session.destroy()
  })
  return (server.address() as AddressInfo).port // as above
}

async function echoServer(): Promise<GrpcTestServer> {
  const server = await grpcServer([
    unaryMethod(shouldRateLimit, (call, reply) => {
      reply(null, create(RateLimitResponseSchema, { rawBody: Buffer.from(call.request.domain) }))
    }),
  ])
  open.push(() => server.kill())
  return server
}

interface AskOptions {
  readonly withinMs?: number
  readonly connectTimeoutMs?: number
}

function ask(client: GrpcClient, port: number, { withinMs = 5000, connectTimeoutMs = 5000 }: AskOptions = {}) {
  return client.unary(
    plainTarget(port, { connectTimeoutMs }),
    shouldRateLimit,
    create(RateLimitRequestSchema, { domain: 'd' }),
    { authority: 'a', deadlineMs: performance.now() + withinMs, signal: undefined },
  )
}

async function statusOf(call: Promise<RateLimitResponse>): Promise<number> {
  return call.then(
    () => GrpcStatus.OK,
    (error: unknown) => {
      if (error instanceof GrpcError) return error.status
      throw error
    },
  )
}

const ANSWER = frameOf(Buffer.alloc(0))

function respond(stream: ServerHttp2Stream, parts: { body?: Buffer; trailers?: Record<string, string> }): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(parts.trailers ?? {}))
  stream.end(parts.body ?? Buffer.alloc(0))
}

describe('a peer that accepts and says nothing', () => {
  it('fails calls at the connect timeout, and serves them once it is well', async () => {
    const healthy = await echoServer()
    let isIll = true
    const port = await tcpServer((socket) => {
      if (!isIll) socket.pipe(net.connect(healthy.port, '127.0.0.1')).pipe(socket)
    })
    const client = newClient()
    expect(await statusOf(ask(client, port, { connectTimeoutMs: 150 }))).toBe(GrpcStatus.UNAVAILABLE)
    isIll = false
    expect(await statusOf(ask(client, port, { connectTimeoutMs: 150 }))).toBe(GrpcStatus.OK)
  })

  it('fails calls at their own deadline when that is sooner', async () => {
    const port = await tcpServer(() => undefined)
    expect(await statusOf(ask(newClient(), port, { withinMs: 100 }))).toBe(GrpcStatus.DEADLINE_EXCEEDED)
  })

  it('after the connection was good loses its calls to a new connection', async () => {
    const healthy = await echoServer()
    const links: { isCut: boolean }[] = []
    const port = await tcpServer((socket) => {
      const link = { isCut: false }
      links.push(link)
      const onward = net.connect(healthy.port, '127.0.0.1')
      onward.on('error', () => undefined)
      socket.on('data', (bytes) => link.isCut || onward.write(bytes))
      onward.on('data', (bytes) => link.isCut || socket.write(bytes))
      open.push(() => onward.destroy())
    })
    const client = newClient()
    expect(await statusOf(ask(client, port))).toBe(GrpcStatus.OK)
    for (const link of links) link.isCut = true
    expect(await statusOf(ask(client, port, { withinMs: 100 }))).toBe(GrpcStatus.DEADLINE_EXCEEDED)
    expect(await statusOf(ask(client, port))).toBe(GrpcStatus.OK)
    expect(links).toHaveLength(2)
  })
})

describe('a peer that is no gRPC server', () => {
  it.each([
    ['answers HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'],
    ['sends noise', '\u0000\u0001\u0002 nonsense '.repeat(20)],
  ])('but %s is UNAVAILABLE', async (_, text) => {
    const port = await tcpServer((socket) => socket.end(text))
    expect(await statusOf(ask(newClient(), port))).toBe(GrpcStatus.UNAVAILABLE)
  })

  it('and is not there at all is UNAVAILABLE', async () => {
    const port = await tcpServer((socket) => socket.resetAndDestroy())
    expect(await statusOf(ask(newClient(), port))).toBe(GrpcStatus.UNAVAILABLE)
  })

  it.each([
    [401, GrpcStatus.UNAUTHENTICATED],
    [404, GrpcStatus.UNIMPLEMENTED],
    [503, GrpcStatus.UNAVAILABLE],
    [302, GrpcStatus.UNKNOWN],
  ])('but answers HTTP status %i is gRPC status %i', async (httpStatus, expected) => {
    const port = await http2Server((stream) => {
      stream.respond({ ':status': httpStatus })
      stream.end('no')
    })
    expect(await statusOf(ask(newClient(), port))).toBe(expected)
  })

  it('but answers with a web page is UNKNOWN', async () => {
    const port = await http2Server((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' })
      stream.end('<p>')
    })
    expect(await statusOf(ask(newClient(), port))).toBe(GrpcStatus.UNKNOWN)
  })
})

describe('an answer that is not whole', () => {
  const OK_TRAILERS = { 'grpc-status': '0' }

  it.each([
    ['is whole', { body: ANSWER, trailers: OK_TRAILERS }, GrpcStatus.OK],
    ['has no message', { trailers: OK_TRAILERS }, GrpcStatus.INTERNAL],
    ['has two messages', { body: Buffer.concat([ANSWER, ANSWER]), trailers: OK_TRAILERS }, GrpcStatus.INTERNAL],
    ['has a message cut off', { body: Buffer.from([0, 0, 0, 0, 9, 1]), trailers: OK_TRAILERS }, GrpcStatus.INTERNAL],
    ['has a message that does not decode', { body: frameOf(Buffer.from([255])), trailers: OK_TRAILERS }, 13],
    ['has no status', { body: ANSWER }, GrpcStatus.INTERNAL],
    ['has a status that is not a number', { body: ANSWER, trailers: { 'grpc-status': 'x' } }, GrpcStatus.UNKNOWN],
    ['announces 4 GiB', { body: Buffer.from([0, 255, 255, 255, 255]), trailers: OK_TRAILERS }, 8],
  ])('because it %s ends in the right status', async (_, parts, expected) => {
    const port = await http2Server((stream) => respond(stream, parts))
    expect(await statusOf(ask(newClient(), port))).toBe(expected)
  })

  it('because the stream is reset in the middle fails', async () => {
    const port = await http2Server((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    })
    expect(await statusOf(ask(newClient(), port))).not.toBe(GrpcStatus.OK)
  })

  it('because the connection is cut in the middle fails, and the next call opens another', async () => {
    const port = await http2Server((stream, count) => {
      if (count === 1) stream.session?.socket.destroy()
      else respond(stream, { body: ANSWER, trailers: OK_TRAILERS })
    })
    const client = newClient()
    expect(await statusOf(ask(client, port))).not.toBe(GrpcStatus.OK)
    await until(() => client.openSessions === 0, 'the end of the session')
    expect(await statusOf(ask(client, port))).toBe(GrpcStatus.OK)
  })
})

describe('a peer that refuses streams', () => {
  it('once: the call is sent again', async () => {
    const port = await http2Server((stream, count) => {
      if (count === 1) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
      else respond(stream, { body: ANSWER, trailers: { 'grpc-status': '0' } })
    })
    expect(await statusOf(ask(newClient(), port))).toBe(GrpcStatus.OK)
  })

  it('always: the call is sent again only once', async () => {
    let streams = 0
    const port = await http2Server((stream) => {
      streams++
      stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
    })
    expect(await statusOf(ask(newClient(), port))).toBe(GrpcStatus.UNAVAILABLE)
    expect(streams).toBe(2)
  })
})

describe('too many calls', () => {
  it('for a peer that cannot be reached fail at once instead of waiting in an endless line', async () => {
    const port = await tcpServer(() => undefined)
    const client = newClient()
    const statuses = await Promise.all(
      Array.from({ length: 1500 }, () => statusOf(ask(client, port, { withinMs: 300 }))),
    )
    expect(statuses.filter((status) => status === GrpcStatus.DEADLINE_EXCEEDED)).toHaveLength(1024)
    expect(statuses.filter((status) => status === GrpcStatus.RESOURCE_EXHAUSTED)).toHaveLength(476)
  })
})
