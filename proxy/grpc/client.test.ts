// The client against @grpc/grpc-js: calls, limits, deadlines, shut-downs, streams, TLS. Hostile peers: faults.test.ts.
import { create } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  ExternalProcessor,
  ProcessingRequestSchema,
  ProcessingResponseSchema,
  type ProcessingRequest,
  type ProcessingResponse,
} from '../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
  RateLimitService,
} from '../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { createGrpcClient, type GrpcClient } from './client.ts'
import { bidiMethod, grpcServer, plainTarget, unaryMethod, until, type GrpcServerOptions } from './server.testing.ts'
import { GrpcError, GrpcStatus } from './status.ts'

const { shouldRateLimit } = RateLimitService.method
const { process: processMethod } = ExternalProcessor.method

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

function newClient(): GrpcClient {
  const client = createGrpcClient()
  open.push(() => client.close())
  return client
}

type Handler = Parameters<typeof unaryMethod<typeof shouldRateLimit.input, typeof shouldRateLimit.output>>[1]

async function start(handler: Handler, options?: GrpcServerOptions): ReturnType<typeof grpcServer> {
  const server = await grpcServer([unaryMethod(shouldRateLimit, handler)], options)
  open.push(() => server.kill())
  return server
}

const echo: Handler = (call, reply) => {
  reply(null, create(RateLimitResponseSchema, { rawBody: Buffer.from(call.request.domain) }))
}

const options = (
  more: { deadlineMs?: number; signal?: AbortSignal; metadata?: string[]; messageBytesMax?: number } = {},
) => ({
  authority: 'limits.test',
  deadlineMs: performance.now() + 5000,
  signal: undefined,
  ...more,
})

const ask = (domain: string) => create(RateLimitRequestSchema, { domain })

async function failure(call: Promise<unknown>): Promise<GrpcError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof GrpcError)) throw new Error(`no GrpcError but ${String(error)}`)
  return error
}

describe('unary calls', () => {
  it('bring the answer; metadata, authority and deadline arrive', async () => {
    const seen: unknown[] = []
    const server = await start((call, reply) => {
      seen.push(call.metadata.get('x-a'), call.getHost(), Number(call.getDeadline()) < Infinity)
      echo(call, reply)
    })
    const answer = await newClient().unary(
      server.target,
      shouldRateLimit,
      ask('hello'),
      options({ metadata: ['x-a', '1', 'x-a', '2'] }),
    )
    expect(Buffer.from(answer.rawBody).toString()).toBe('hello')
    expect(seen).toEqual([['1, 2'], 'limits.test', true])
  })

  it('share one connection, and open more when the peer allows few streams at once', async () => {
    const waiting: (() => void)[] = []
    const server = await start((call, reply) => waiting.push(() => echo(call, reply)), { streamsMax: 10 })
    const client = newClient()
    const calls = Array.from({ length: 30 }, (_, i) =>
      client.unary(server.target, shouldRateLimit, ask(String(i)), options()),
    )
    await until(() => waiting.length === 30, 'thirty calls at once')
    expect(client.openSessions).toBe(3)
    for (const answer of waiting) answer()
    const answers = await Promise.all(calls)
    expect(answers.map(({ rawBody }) => Buffer.from(rawBody).toString())).toEqual(answers.map((_, i) => String(i)))
  })

  it('serve many at once', async () => {
    const server = await start(echo)
    const client = newClient()
    const calls = Array.from({ length: 1000 }, (_, i) =>
      client.unary(server.target, shouldRateLimit, ask(`d${i}`), options()),
    )
    const answers = await Promise.all(calls)
    expect(answers.every(({ rawBody }, i) => Buffer.from(rawBody).toString() === `d${i}`)).toBe(true)
  })

  it('bring the status and the message of the peer', async () => {
    const server = await start((_, reply) => reply({ code: status.PERMISSION_DENIED, details: 'not: ä' }))
    const error = await failure(newClient().unary(server.target, shouldRateLimit, ask('x'), options()))
    expect(error).toMatchObject({ status: 7, message: 'not: ä' })
  })

  it('to a method that is not there are UNIMPLEMENTED', async () => {
    const server = await grpcServer([])
    open.push(() => server.kill())
    const error = await failure(newClient().unary(server.target, shouldRateLimit, ask('x'), options()))
    expect(error.status).toBe(GrpcStatus.UNIMPLEMENTED)
  })

  it('end at the deadline, and the peer hears of it', async () => {
    let isCancelled = false
    const server = await start((call) => {
      call.on('cancelled', () => {
        isCancelled = true
      })
    })
    const call = newClient().unary(
      server.target,
      shouldRateLimit,
      ask('x'),
      options({ deadlineMs: performance.now() + 150 }),
    )
    expect((await failure(call)).status).toBe(GrpcStatus.DEADLINE_EXCEEDED)
    await until(() => isCancelled, 'the cancellation')
  })

  it('end when the caller leaves, before and while they run', async () => {
    let isRunning = false
    let isCancelled = false
    const server = await start((call) => {
      isRunning = true
      call.on('cancelled', () => {
        isCancelled = true
      })
    })
    const client = newClient()
    const aborted = client.unary(server.target, shouldRateLimit, ask('x'), options({ signal: AbortSignal.abort() }))
    expect((await failure(aborted)).status).toBe(GrpcStatus.CANCELLED)
    const controller = new AbortController()
    const call = client.unary(server.target, shouldRateLimit, ask('x'), options({ signal: controller.signal }))
    await until(() => isRunning, 'the call')
    controller.abort()
    expect((await failure(call)).status).toBe(GrpcStatus.CANCELLED)
    await until(() => isCancelled, 'the cancellation')
  })

  it.each([
    [1000, undefined],
    [100, GrpcStatus.RESOURCE_EXHAUSTED],
  ])('with at most %i bytes for a message end with %s', async (messageBytesMax, expected) => {
    const server = await start(echo)
    const call = newClient().unary(server.target, shouldRateLimit, ask('x'.repeat(500)), options({ messageBytesMax }))
    if (expected === undefined) expect((await call).rawBody).toHaveLength(500)
    else expect((await failure(call)).status).toBe(expected)
  })
})

describe('a peer that goes', () => {
  it('finishes running calls after GOAWAY; the next call finds its successor', async () => {
    let answer: (() => void) | undefined
    const first = await start((call, reply) => {
      answer = () => echo(call, reply)
    })
    const client = newClient()
    const running = client.unary(first.target, shouldRateLimit, ask('old'), options())
    await until(() => answer !== undefined, 'the call')
    const stopped = first.stop()
    await until(() => client.openSessions === 1, 'the session')
    answer?.()
    expect(Buffer.from((await running).rawBody).toString()).toBe('old')
    await stopped
    await until(() => client.openSessions === 0, 'the end of the session')
    const second = await start(echo, { port: first.port })
    expect(second.port).toBe(first.port)
    const next = await client.unary(first.target, shouldRateLimit, ask('new'), options())
    expect(Buffer.from(next.rawBody).toString()).toBe('new')
  })

  it('fails running calls when it is killed; calls work again when it is back', async () => {
    let calls = 0
    const first = await start(() => calls++)
    const client = newClient()
    const running = client.unary(first.target, shouldRateLimit, ask('x'), options())
    await until(() => calls === 1, 'the call')
    first.kill()
    expect((await failure(running)).status).not.toBe(GrpcStatus.OK)
    await until(() => client.openSessions === 0, 'the end of the session')
    const down = await failure(client.unary(first.target, shouldRateLimit, ask('x'), options()))
    expect(down.status).toBe(GrpcStatus.UNAVAILABLE)
    await start(echo, { port: first.port })
    const answer = await client.unary(first.target, shouldRateLimit, ask('back'), options())
    expect(Buffer.from(answer.rawBody).toString()).toBe('back')
  })
})

describe('streams', () => {
  const message = (body: string): ProcessingRequest =>
    create(ProcessingRequestSchema, { request: { case: 'requestBody', value: { body: Buffer.from(body) } } })

  interface Stream {
    readonly stream: ReturnType<GrpcClient['stream']>
    readonly received: string[]
    readonly ended: Promise<GrpcError | undefined>
  }

  async function openStream(): Promise<Stream> {
    const server = await grpcServer([
      bidiMethod(processMethod, (call) => {
        call.on('data', ({ request }: ProcessingRequest) => {
          const details = request.case === 'requestBody' ? Buffer.from(request.value.body).toString() : ''
          const response: ProcessingResponse['response'] = {
            case: 'immediateResponse',
            value: { $typeName: 'envoy.service.ext_proc.v3.ImmediateResponse', body: new Uint8Array(), details },
          }
          call.write(create(ProcessingResponseSchema, { response }))
        })
        call.on('end', () => call.end())
      }),
    ])
    open.push(() => server.kill())
    const received: string[] = []
    const { promise, resolve } = Promise.withResolvers<GrpcError | undefined>()
    const stream = newClient().stream(
      server.target,
      processMethod,
      {
        message: ({ response }) => received.push(response.case === 'immediateResponse' ? response.value.details : ''),
        drained() {},
        closed: resolve,
      },
      options(),
    )
    return { stream, received, ended: promise }
  }

  it('carry messages both ways until both sides end', async () => {
    const { stream, received, ended } = await openStream()
    stream.send(message('a'))
    await until(() => received.length === 1, 'the first answer')
    stream.send(message('b'))
    stream.send(message('c'))
    await until(() => received.length === 3, 'all answers')
    stream.end()
    expect(await ended).toBeUndefined()
    expect(received).toEqual(['a', 'b', 'c'])
  })

  it('that are paused deliver nothing', async () => {
    const { stream, received, ended } = await openStream()
    stream.send(message('a'))
    await until(() => received.length === 1, 'the first answer')
    stream.pause()
    for (let i = 0; i < 20; i++) stream.send(message(`m${i}`))
    stream.end()
    expect(received).toEqual(['a'])
    stream.resume()
    expect(await ended).toBeUndefined()
    expect(received).toHaveLength(21)
  })

  it('make a fast sender wait', async () => {
    const { stream, ended } = await openStream()
    stream.send(message('a'))
    const isRoomLeft = Array.from({ length: 50 }, () => stream.send(message('x'.repeat(200_000))))
    expect(isRoomLeft).toContain(false)
    stream.cancel()
    expect(await ended).toMatchObject({ status: GrpcStatus.CANCELLED })
  })
})

describe('TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-grpc-'))
  const file = (name: string): string => join(directory, name)
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=limits.test', '-addext', 'subjectAltName=DNS:limits.test']
  const files = ['-keyout', file('key.pem'), '-out', file('cert.pem')]
  execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { stdio: 'ignore' })
  const key = readFileSync(file('key.pem'), 'utf8')
  const certificate = readFileSync(file('cert.pem'), 'utf8')
  rmSync(directory, { recursive: true })

  const tls = { servername: 'limits.test', insecureSkipVerify: undefined, alpnProtocols: undefined }

  it('is spoken with peers whose certificate is trusted, and with no others', async () => {
    const server = await start(echo, { tls: { key, certificate } })
    const client = newClient()
    const trusted = plainTarget(server.port, { tls: { ...tls, caCertificates: certificate } })
    const answer = await client.unary(trusted, shouldRateLimit, ask('secret'), options())
    expect(Buffer.from(answer.rawBody).toString()).toBe('secret')
    const unknown = plainTarget(server.port, { tls: { ...tls, caCertificates: undefined } })
    const error = await failure(client.unary(unknown, shouldRateLimit, ask('x'), options()))
    expect(error).toMatchObject({ status: GrpcStatus.UNAVAILABLE })
    const other = plainTarget(server.port, { tls: { ...tls, caCertificates: certificate, servername: 'other.test' } })
    expect((await failure(client.unary(other, shouldRateLimit, ask('x'), options()))).status).toBe(14)
    const blind = plainTarget(server.port, { tls: { ...tls, caCertificates: undefined, insecureSkipVerify: 'All' } })
    expect((await client.unary(blind, shouldRateLimit, ask('x'), options())).rawBody).toHaveLength(1)
  })
})
