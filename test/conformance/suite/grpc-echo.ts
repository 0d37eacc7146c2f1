// A gRPC service of the samples and its client, both with @grpc/grpc-js. Messages are plain bytes: tests check only the
// metadata and statuses. The server returns its name and the metadata that it got, and keeps the metadata of all calls.
import {
  type CallOptions,
  Client,
  credentials,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
} from '@grpc/grpc-js'

export const SAY = '/gw.samples.Echo/Say'
const CHAT = '/gw.samples.Echo/Chat'
const DEADLINE_MS = 15_000

export interface GrpcEcho {
  readonly port: number
  /** Metadata of all calls so far, the oldest first. */
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  stop(): void
}

/** Answers a unary call with its message, and each message of a stream likewise. */
export async function grpcEcho(name: string, port: number): Promise<GrpcEcho> {
  const calls: Record<string, unknown>[] = []
  const server = new Server()
  const same = (bytes: Buffer): Buffer => bytes
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
  const met = (metadata: Metadata): Metadata => {
    const got = metadata.getMap()
    calls.push(got)
    const answer = new Metadata()
    answer.set('x-server', name)
    answer.set('x-powered-by', 'echo')
    answer.set('x-got', JSON.stringify(got))
    return answer
  }
  const say: handleUnaryCall<Buffer, Buffer> = (call, reply) => {
    call.sendMetadata(met(call.metadata))
    reply(null, call.request)
  }
  const chat: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    call.sendMetadata(met(call.metadata))
    call.on('data', (message: Buffer) => call.write(message))
    call.on('end', () => call.end())
    call.on('error', () => undefined)
  }
  server.addService(
    {
      say: { path: SAY, requestStream: false, responseStream: false, ...codec },
      chat: { path: CHAT, requestStream: true, responseStream: true, ...codec },
    },
    { say, chat },
  )
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) => {
      if (error === null) resolve(at)
      else reject(error)
    })
  })
  return { port: bound, calls, stop: () => server.forceShutdown() }
}

export interface GrpcReply {
  /** 0 is OK. */
  readonly code: number
  readonly messages: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** Metadata that the server got; empty if no server of this file answered. */
  readonly got: Readonly<Record<string, unknown>>
}

export interface GrpcQuestion {
  /** The host of the call. */
  readonly authority: string
  readonly metadata?: Readonly<Record<string, string>>
  /** Several messages make it a stream. */
  readonly messages: readonly string[]
}

/** A call with its own channel. */
export async function grpcCall(port: number, { authority, metadata = {}, messages }: GrpcQuestion): Promise<GrpcReply> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.default_authority': authority,
    'grpc.use_local_subchannel_pool': 1,
  })
  const sent = new Metadata()
  for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
  const options: CallOptions = { deadline: Date.now() + DEADLINE_MS }
  const toBytes = (text: string): Buffer => Buffer.from(text)
  const { promise, resolve } = Promise.withResolvers<GrpcReply>()
  const call = client.makeBidiStreamRequest(messages.length > 1 ? CHAT : SAY, toBytes, String, sent, options)
  const replies: string[] = []
  let first: Readonly<Record<string, unknown>> = {}
  call.on('metadata', (answer: Metadata) => (first = answer.getMap()))
  call.on('data', (message: string) => replies.push(message))
  call.on('error', () => undefined)
  call.on('status', ({ code }) => {
    const text = first['x-got']
    const got = JSON.parse(typeof text === 'string' ? text : '{}') as GrpcReply['got'] // written above
    resolve({ code, messages: replies, metadata: first, got })
  })
  for (const message of messages) call.write(message)
  call.end()
  try {
    return await promise
  } finally {
    client.close()
  }
}
