// The upstreams of the samples, which have fixed ports: started on those ports for a reader, on free ones for tests.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { mcpServer } from '../../../hack/quickstart/mcp.ts'
import { grpcServer } from '#proxy/grpc/server.testing.ts'
import { grpcCollector, httpCollector, type TestCollector } from '#proxy/otlp/collector.testing.ts'
import { agent } from './agent.ts'
import { authorizer, grpcAuthorizer } from './authorizer.ts'
import { echo } from './echo.ts'
import { egress } from './egress.ts'
import { flaky } from './flaky.ts'
import { fullBacklog } from './full-backlog.ts'
import { grpcEcho, type GrpcEcho } from './grpc-echo.ts'
import { guard } from './guard.ts'
import { limiter } from './limiter.ts'
import { mcpGuard } from './mcp-guard.ts'
import { wordsServer } from './mcp-words.ts'
import { processor } from './processor.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { workloadServer } from './workload.ts'
import { vendorServer } from './vendor.ts'

/** ALPN protocols of the TLS server, the preferred one first: fewer than clients offer, so that tests see a choice. */
const AGREEMENT = { ALPNProtocols: ['h2', 'http/1.1'], ecdhCurve: 'X25519:P-384' }

/** The port of each upstream in the samples. */
export const SAMPLE_PORTS = {
  echo: 18_081,
  model: 18_082,
  tools: 18_083,
  spare: 18_084,
  tls: 18_085,
  words: 18_086,
  /** Accepts connections and never answers. */
  silent: 18_087,
  /** A port where connections hang; only in tests. */
  hanging: 18_088,
  /** Rejects the first try of every request. */
  flaky: 18_089,
  authzHttp: 18_090,
  authzGrpc: 18_091,
  limiter: 18_092,
  processor: 18_093,
  /** Over TLS, with a certificate that has a host name and a URI. */
  workload: 18_094,
  /** Opens connections by CONNECT; only this proxy resolves echo.internal. */
  egress: 18_095,
  /** Over TLS, and accepts only the client of the samples. */
  mtls: 18_099,
  /** An A2A server. */
  agent: 18_096,
  /** Collectors of the OpenTelemetry protocol. */
  otlpGrpc: 18_097,
  otlpHttp: 18_098,
  /** gRPC servers; the second one gets copies. */
  grpcEcho: 18_100,
  grpcSpare: 18_101,
  /** Issues tokens. */
  tokens: 18_102,
  /** Decides about the texts of LLM requests. */
  guard: 18_103,
} as const

export const SAMPLE_SOCKET = '/tmp/gw-echo.sock'

export type UpstreamName = keyof typeof SAMPLE_PORTS

export interface ModelRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

export interface Upstreams {
  readonly ports: { readonly [N in UpstreamName]: number }
  readonly socketPath: string
  readonly collectors: { readonly grpc: TestCollector; readonly http: TestCollector }
  readonly grpc: { readonly echo: GrpcEcho; readonly spare: GrpcEcho }
  /** Paths of the requests that the spare server has received so far. */
  readonly copied: readonly string[]
  /** The last request of the model server. */
  lastModelRequest(): ModelRequest
  stop(): Promise<void>
}

export interface UpstreamOptions {
  readonly socketPath: string
  readonly port: (name: UpstreamName) => number
}

export async function startUpstreams({ socketPath, port }: UpstreamOptions): Promise<Upstreams> {
  const model = vendorServer()
  const lastModelRequest = recorder(model)
  const copied: string[] = []
  const certificate = (file: string): Buffer => readFileSync(join(import.meta.dirname, 'testdata', file))
  const servers = {
    echo: createServer(echo('echo')),
    model,
    tools: mcpServer(),
    spare: createServer(echo('spare')).prependListener('request', ({ url }) => copied.push(url ?? '')),
    tls: createSecureServer(
      { cert: certificate('echo.crt'), key: certificate('echo.key'), ...AGREEMENT, allowHTTP1: true },
      echo('tls'),
    ),
    mtls: createTlsServer(
      {
        cert: certificate('echo.crt'),
        key: certificate('echo.key'),
        ca: certificate('client.crt'),
        requestCert: true,
        rejectUnauthorized: true,
      },
      echo('mtls'),
    ),
    workload: workloadServer(),
    words: wordsServer(),
    agent: createServer(agent),
    flaky: createServer(flaky),
    egress: egress(),
    authzHttp: createServer(authorizer()),
    tokens: createServer(tokenEndpoint),
    guard: createServer(guard),
    silent: createTcpServer((socket) => socket.on('error', () => undefined).resume()),
  }
  const unix = createServer(echo('unix'))
  const sockets = new Set<Socket>()
  const listen = async (server: TcpServer, where: { path: string } | { host: string; port: number }) => {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(where)
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? portOf(address) : 0
  }
  const open = (name: keyof typeof servers) => listen(servers[name], { host: '127.0.0.1', port: port(name) })
  await listen(unix, { path: socketPath })
  const hanging = await fullBacklog()
  const authzGrpc = await grpcServer([grpcAuthorizer, ...mcpGuard], { port: port('authzGrpc') })
  const collectors = { grpc: await grpcCollector(port('otlpGrpc')), http: await httpCollector(port('otlpHttp')) }
  const rateLimiter = await grpcServer([limiter()], { port: port('limiter') })
  const grpc = {
    echo: await grpcEcho('echo', port('grpcEcho')),
    spare: await grpcEcho('spare', port('grpcSpare')),
  }
  const processing = await grpcServer([processor], { port: port('processor') })
  const ports = {
    echo: await open('echo'),
    model: await open('model'),
    tools: await open('tools'),
    spare: await open('spare'),
    tls: await open('tls'),
    mtls: await open('mtls'),
    workload: await open('workload'),
    agent: await open('agent'),
    words: await open('words'),
    silent: await open('silent'),
    flaky: await open('flaky'),
    egress: await open('egress'),
    authzHttp: await open('authzHttp'),
    tokens: await open('tokens'),
    guard: await open('guard'),
    authzGrpc: authzGrpc.port,
    limiter: rateLimiter.port,
    otlpGrpc: collectors.grpc.port,
    otlpHttp: collectors.http.port,
    processor: processing.port,
    hanging: hanging.port,
    grpcEcho: grpc.echo.port,
    grpcSpare: grpc.spare.port,
  }
  return {
    ports,
    socketPath,
    collectors,
    grpc,
    copied,
    lastModelRequest,
    async stop() {
      const all: TcpServer[] = [...Object.values(servers), unix]
      for (const server of all) server.close()
      for (const socket of sockets) socket.destroy()
      authzGrpc.kill()
      rateLimiter.kill()
      collectors.grpc.stop()
      collectors.http.stop()
      processing.kill()
      grpc.echo.stop()
      grpc.spare.stop()
      await hanging.stop()
    },
  }
}

function portOf({ port }: AddressInfo): number {
  return port
}

function recorder(server: Server): () => ModelRequest {
  let last: ModelRequest | undefined
  server.prependListener('request', (request) => {
    const { url: path = '', headers } = request
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}')
      const fields = typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body)) : {}
      last = { path, headers, body: fields }
    })
  })
  return () => {
    if (last === undefined) throw new Error('the model server has received nothing')
    return last
  }
}
