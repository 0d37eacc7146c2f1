// gRPC servers for tests and benchmarks, built from @grpc/grpc-js, so that the peer is another implementation than
// ours; not used by the proxy.
import { fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf'
import {
  Server,
  ServerCredentials,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import type { UpstreamTarget } from '../upstream/target.ts'
import type { GrpcMethod } from './client.ts'

type Call<I extends DescMessage, O extends DescMessage> = ServerUnaryCall<MessageShape<I>, MessageShape<O>>
type Reply<O extends DescMessage> = sendUnaryData<MessageShape<O>>

/** One method with what answers it. */
export interface ServedMethod {
  readonly path: string
  readonly definition: object
  readonly implementation: unknown
}

export function unaryMethod<I extends DescMessage, O extends DescMessage>(
  method: GrpcMethod<I, O>,
  handler: (call: Call<I, O>, reply: Reply<O>) => void,
): ServedMethod {
  const implementation: handleUnaryCall<MessageShape<I>, MessageShape<O>> = handler
  return served(method, false, implementation)
}

export function bidiMethod<I extends DescMessage, O extends DescMessage>(
  method: GrpcMethod<I, O>,
  handler: (call: ServerDuplexStream<MessageShape<I>, MessageShape<O>>) => void,
): ServedMethod {
  const implementation: handleBidiStreamingCall<MessageShape<I>, MessageShape<O>> = handler
  return served(method, true, implementation)
}

function served<I extends DescMessage, O extends DescMessage>(
  method: GrpcMethod<I, O>,
  isStream: boolean,
  implementation: unknown,
): ServedMethod {
  const path = `/${method.parent.typeName}/${method.name}`
  const definition = {
    path,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
    responseSerialize: (message: MessageShape<O>) => Buffer.from(toBinary(method.output, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  }
  return { path, definition, implementation }
}

export interface GrpcTestServer {
  readonly port: number
  readonly target: UpstreamTarget
  /** GOAWAY, then waits for running calls. */
  stop(): Promise<void>
  /** Cuts everything. */
  kill(): void
}

export interface GrpcServerOptions {
  readonly port?: number
  readonly streamsMax?: number
  readonly tls?: { readonly key: string; readonly certificate: string }
}

export async function grpcServer(
  methods: readonly ServedMethod[],
  { port = 0, streamsMax, tls }: GrpcServerOptions = {},
): Promise<GrpcTestServer> {
  const server = new Server(streamsMax === undefined ? {} : { 'grpc.max_concurrent_streams': streamsMax })
  for (const { path, definition, implementation } of methods) {
    // The library types definitions by service interfaces that generated clients have; these are made by hand.
    server.addService({ [path]: definition } as never, { [path]: implementation } as never)
  }
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) },
        ])
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, boundPort) => {
      if (error === null) resolve(boundPort)
      else reject(error)
    })
  })
  return {
    port: bound,
    target: plainTarget(bound),
    stop: () => new Promise((resolve) => server.tryShutdown(() => resolve())),
    kill: () => server.forceShutdown(),
  }
}

export function plainTarget(port: number, options: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const target = { host: '127.0.0.1', port, unixPath: undefined, tls: undefined, connectTimeoutMs: 2000, ...options }
  return { ...target, key: JSON.stringify(target) }
}

const WAIT_MS = 10_000

/** Polls until the condition holds; the deadline only makes a broken test end. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}
