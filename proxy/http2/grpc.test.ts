// gRPC through the proxy with the public client and server: all four kinds of calls, metadata, status, cancellation,
// deadlines, large messages, many calls at once.
import grpc from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { testProxy } from '#proxy/main.testing.ts'
import { settled, until } from '../http/server.testing.ts'
import { type ProxyOptions, startProxy } from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

const raw = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same }
function same(bytes: Buffer): Buffer {
  return bytes
}
const method = (
  name: string,
  requestStream: boolean,
  responseStream: boolean,
): grpc.MethodDefinition<Buffer, Buffer> => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  ...raw,
})
const SERVICE = {
  unary: method('Unary', false, false),
  upload: method('Upload', true, false),
  download: method('Download', false, true),
  chat: method('Chat', true, true),
}

interface Seen {
  cancelled: number
  deadlines: number
  written: number
}

const LIMITS = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }

/** Echoes; `fail` as a message gives a status with metadata behind it. */
async function startServer(): Promise<{ port: number; seen: Seen; close(): void }> {
  const seen: Seen = { cancelled: 0, deadlines: 0, written: 0 }
  const server = new grpc.Server(LIMITS)
  const trailers = new grpc.Metadata()
  trailers.set('x-trailer', 'end')
  trailers.set('x-trailer-bin', Buffer.from([0, 255]))
  server.addService(SERVICE, {
    unary(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) {
      const text = call.request.toString('latin1', 0, 32)
      if (call.getDeadline() !== Infinity) seen.deadlines++
      if (text === 'hang') {
        call.on('cancelled', () => seen.cancelled++)
        return
      }
      call.sendMetadata(call.metadata)
      if (text === 'fail') done({ code: grpc.status.NOT_FOUND, details: 'as given, é', metadata: trailers })
      else done(null, call.request, trailers)
    },
    upload(call: grpc.ServerReadableStream<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) {
      let bytes = 0
      call.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      call.on('end', () => done(null, Buffer.from(String(bytes))))
      call.on('cancelled', () => seen.cancelled++)
    },
    download(call: grpc.ServerWritableStream<Buffer, Buffer>) {
      const count = Number(call.request.toString())
      let sent = 0
      const more = (): void => {
        while (sent < count && !call.cancelled) {
          sent++
          seen.written = sent
          if (!call.write(Buffer.alloc(10_000))) {
            call.once('drain', more)
            return
          }
        }
        call.end()
      }
      call.on('cancelled', () => seen.cancelled++)
      more()
    },
    chat(call: grpc.ServerDuplexStream<Buffer, Buffer>) {
      call.on('data', (chunk: Buffer) => call.write(chunk))
      call.on('end', () => call.end())
      call.on('cancelled', () => seen.cancelled++)
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  return { port, seen, close: () => server.forceShutdown() }
}

/** What grpc-js makes of a service definition; its types know only that it is a client. */
interface EchoClient extends grpc.Client {
  unary(
    request: Buffer,
    metadata: grpc.Metadata,
    options: grpc.CallOptions,
    done: (error: grpc.ServiceError | null, reply?: Buffer) => void,
  ): grpc.ClientUnaryCall
  upload(done: (error: grpc.ServiceError | null, reply?: Buffer) => void): grpc.ClientWritableStream<Buffer>
  download(request: Buffer): grpc.ClientReadableStream<Buffer>
  chat(): grpc.ClientDuplexStream<Buffer, Buffer>
}

function clientOf(port: number): EchoClient {
  const Client = grpc.makeGenericClientConstructor(SERVICE, 'Echo')
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), LIMITS) as unknown as EchoClient
  open.push(client)
  return client
}

interface Outcome {
  readonly error: grpc.ServiceError | null
  readonly reply: Buffer | undefined
  readonly metadata: grpc.Metadata | undefined
  readonly status: grpc.StatusObject | undefined
}

function unary(client: EchoClient, text: string | Buffer, options: grpc.CallOptions = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    let metadata: grpc.Metadata | undefined
    let outcome: Pick<Outcome, 'error' | 'reply'> = { error: null, reply: undefined }
    const fields = new grpc.Metadata()
    fields.set('x-mine', 'value')
    fields.set('x-mine-bin', Buffer.from([1, 2, 255]))
    const call = client.unary(Buffer.from(text), fields, options, (error, reply) => {
      outcome = { error, reply }
    })
    call.on('metadata', (received) => {
      metadata = received
    })
    call.on('status', (status) => setImmediate(() => resolve({ ...outcome, metadata, status })))
  })
}

async function scene(options: ProxyOptions = {}): Promise<{
  client: EchoClient
  seen: Seen
  proxy: Awaited<ReturnType<typeof startProxy>>
}> {
  const server = await startServer()
  const proxy = await startProxy(server.port, options)
  open.push(server, proxy)
  return { client: clientOf(proxy.port), seen: server.seen, proxy }
}

describe('calls', () => {
  it('unary: message, metadata and trailers in both forms', async () => {
    const { client, proxy } = await scene()
    const { error, reply, metadata, status } = await unary(client, 'hello')
    expect([error, reply?.toString()]).toEqual([null, 'hello'])
    expect([metadata?.get('x-mine'), metadata?.get('x-mine-bin')]).toEqual([['value'], [Buffer.from([1, 2, 255])]])
    expect([status?.metadata.get('x-trailer'), status?.metadata.get('x-trailer-bin')]).toEqual([
      ['end'],
      [Buffer.from([0, 255])],
    ])
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.exchange.response?.grpcStatus).toBe('0')
  })

  it('a status of the server arrives with its text and trailers', async () => {
    const { client, proxy } = await scene()
    const { error } = await unary(client, 'fail')
    expect([error?.code, error?.details, error?.metadata.get('x-trailer')]).toEqual([5, 'as given, é', ['end']])
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.exchange.response?.grpcStatus).toBe('5')
  })

  it('a failure of the proxy is a gRPC status', async () => {
    const { client } = await scene({
      handle(exchange, respond) {
        exchange.fail('authorizationFailed')
        respond(exchange)
      },
    })
    const { error } = await unary(client, 'hello')
    expect([error?.code, error?.details]).toEqual([grpc.status.PERMISSION_DENIED, 'authorization failed'])
  })

  it('large messages', async () => {
    const { client } = await scene()
    const large = Buffer.alloc(20_000_000, 'abc')
    const { reply } = await unary(client, large)
    expect(reply?.equals(large)).toBe(true)
  })

  it('the deadline of the client is passed on and not enforced here', async () => {
    const { client, seen } = await scene()
    const { error } = await unary(client, 'hang', { deadline: Date.now() + 300 })
    expect(error?.code).toBe(grpc.status.DEADLINE_EXCEEDED)
    await until(() => seen.cancelled === 1)
    expect(seen.deadlines).toBe(1)
  })

  it('client streaming', async () => {
    const { client } = await scene()
    const reply = await new Promise<string | undefined>((resolve, reject) => {
      const call = client.upload((error, bytes) => {
        if (error === null) resolve(bytes?.toString())
        else reject(error)
      })
      for (let i = 0; i < 1000; i++) call.write(Buffer.alloc(1000))
      call.end()
    })
    expect(reply).toBe('1000000')
  })

  it('server streaming: a client that pauses misses nothing', { tags: ['full'] }, async () => {
    const { client, seen } = await scene()
    // The server of this package takes every write at once; how much waits in the proxy is measured in relay.test.ts.
    const call = client.download(Buffer.from('5000'))
    call.pause()
    await settled(() => seen.written)
    let received = 0
    for await (const chunk of call) received += (chunk as Buffer).length
    expect(received).toBe(50_000_000)
  })

  it('bidirectional: each message is answered before the next is sent', async () => {
    const { client } = await scene()
    const call = client.chat()
    for (let i = 0; i < 20; i++) {
      call.write(Buffer.from(`message ${i}`))
      const reply = await new Promise<Buffer>((resolve) => {
        call.once('data', resolve)
      })
      expect(reply.toString()).toBe(`message ${i}`)
    }
    const status = new Promise<grpc.StatusObject>((resolve) => {
      call.on('status', resolve)
    })
    call.end()
    call.resume()
    expect((await status).code).toBe(0)
  })
})

describe('cancellation', () => {
  it.each(['unary', 'chat', 'download'] as const)('%s: the server hears of it', async (kind) => {
    const { client, seen, proxy } = await scene()
    let call: grpc.ClientUnaryCall | grpc.ClientDuplexStream<Buffer, Buffer> | grpc.ClientReadableStream<Buffer>
    if (kind === 'unary') call = client.unary(Buffer.from('hang'), new grpc.Metadata(), {}, () => {})
    else if (kind === 'chat') {
      const chat = client.chat()
      chat.on('error', () => {})
      chat.write(Buffer.from('x'))
      call = chat
    } else {
      const download = client.download(Buffer.from('100000'))
      download.on('error', () => {})
      call = download
    }
    await until(() => proxy.handled.length === 1 && proxy.client.openConnections === 1)
    if (kind === 'download') await until(() => seen.written > 0)
    call.cancel()
    await until(() => seen.cancelled === 1 || (kind === 'unary' && proxy.finished.length === 1))
    await until(() => proxy.finished.length === 1 && proxy.server.activeRequests === 0)
    expect(proxy.finished[0]?.isComplete).toBe(false)
  })
})

it('1000 calls at once', { tags: ['full'] }, async () => {
  const { client, proxy } = await scene()
  const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, i) => unary(client, `call ${i}`)))
  expect(outcomes.filter(({ error }) => error !== null)).toEqual([])
  expect(outcomes.map(({ reply }) => reply?.toString())).toEqual(Array.from({ length: 1000 }, (_, i) => `call ${i}`))
  await until(() => proxy.server.activeRequests === 0 && proxy.finished.length === 1000)
})

describe('the whole proxy', () => {
  /** One GRPCRoute to a Service. */
  const grpcRoute =
    (port: number) =>
    (config: RenderedConfig): RenderedConfig => ({
      ...config,
      routes: [
        {
          key: 'ns/calls.00.grpc.http',
          listenerKey: 'ns/gw.http',
          name: { kind: 'GRPCRoute', namespace: 'ns', name: 'calls' },
          hostnames: [],
          matches: [{ path: { pathPrefix: '/test.Echo/' } }],
          backends: [{ weight: 1, ref: { service: { hostname: 'echo.ns', namespace: 'ns', port: 80 } } }],
        },
      ],
      services: [{ name: 'echo', namespace: 'ns', hostname: 'echo.ns', ports: [{ port: 80 }] }],
      workloads: [
        {
          uid: 'one',
          addresses: ['127.0.0.1'],
          healthy: true,
          services: [{ hostname: 'echo.ns', namespace: 'ns', ports: [{ port: 80, targetPort: port }] }],
        },
      ],
    })

  it('routes by service and method; what fits no route is UNIMPLEMENTED', async () => {
    const server = await startServer()
    const proxy = await testProxy({ routes: [], change: grpcRoute(server.port) })
    open.push(server, { close: () => proxy.stop() })
    const client = clientOf(proxy.port)
    expect((await unary(client, 'hello')).reply?.toString()).toBe('hello')
    const Other = grpc.makeGenericClientConstructor({ unary: { ...SERVICE.unary, path: '/test.Other/Unary' } }, 'Other')
    const other = new Other(`127.0.0.1:${proxy.port}`, grpc.credentials.createInsecure()) as unknown as EchoClient
    open.push(other)
    const { error } = await unary(other, 'hello')
    expect([error?.code, error?.details]).toEqual([grpc.status.UNIMPLEMENTED, 'route not found'])
  })

  it('shutdown: a running call continues to its end', { tags: ['full'] }, async () => {
    const server = await startServer()
    const proxy = await testProxy({ routes: [], change: grpcRoute(server.port) })
    open.push(server, { close: () => proxy.stop() })
    const client = clientOf(proxy.port)
    const call = client.chat()
    const replies: string[] = []
    call.on('data', (reply: Buffer) => replies.push(reply.toString()))
    call.write(Buffer.from('before'))
    await until(() => replies.length === 1)
    const stopped = proxy.proxy.stop()
    const status = new Promise<grpc.StatusObject>((resolve) => {
      call.on('status', resolve)
    })
    call.write(Buffer.from('during'))
    await until(() => replies.length === 2)
    call.end()
    expect([(await status).code, replies]).toEqual([0, ['before', 'during']])
    await stopped
  })
})
