// A gRPC service of the samples and its client, both of @grpc/grpc-js. Messages are bytes as they are: what is tested
// is what goes around them. The server says its name and the metadata it was given, and keeps what calls it has met.
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
    const told = metadata.getMap()
    calls.push(told)
    const answer = new Metadata()
    answer.set('x-server', name)
    answer.set('x-powered-by', 'echo')
    answer.set('x-told', JSON.stringify(told))
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
  /** What the server was told; nothing where no server of this file has answered. */
  readonly told: Readonly<Record<string, unknown>>
}

export interface GrpcQuestion {
  /** Of the host that the call is for. */
  readonly authority: string
  readonly metadata?: Readonly<Record<string, string>>
  /** As many make a stream of it. */
  readonly messages: readonly string[]
}

/** A call from a channel of its own. */
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
  const got: string[] = []
  let first: Readonly<Record<string, unknown>> = {}
  call.on('metadata', (answer: Metadata) => (first = answer.getMap()))
  call.on('data', (message: string) => got.push(message))
  call.on('error', () => undefined)
  call.on('status', ({ code }) => {
    const text = first['x-told']
    const told = JSON.parse(typeof text === 'string' ? text : '{}') as GrpcReply['told'] // written above
    resolve({ code, messages: got, metadata: first, told })
  })
  for (const message of messages) call.write(message)
  call.end()
  try {
    return await promise
  } finally {
    client.close()
  }
}
