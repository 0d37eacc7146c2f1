// For tests of HTTP/2: a proxy with nothing between the engines, HTTP/2 backends, and a client that writes raw frames.
// Not used in production.
import { once } from 'node:events'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { type ConnectionLimits, DEFAULT_LIMITS, type RequestHandler } from '../http/handler.ts'
import { portOf, targetOf, until } from '../http/server.testing.ts'
import { createUpstreamClient, type HttpUpstreamClient } from '../upstream/client.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { type BindHttpServer, createBindServer } from './bind-server.ts'

export interface Proxy {
  readonly port: number
  readonly server: BindHttpServer
  readonly client: HttpUpstreamClient
  readonly handled: Exchange[]
  readonly finished: { exchange: Exchange; isComplete: boolean }[]
  readonly refused: { status: number; detail: string }[]
  close(): void
}

export interface ProxyOptions {
  readonly target?: Partial<UpstreamTarget>
  readonly limits?: Partial<ConnectionLimits>
  /** Instead of forwarding. */
  readonly handle?: (exchange: Exchange, respond: (exchange: Exchange) => void, parts: Forwarding) => void
}

/** What a handler needs to forward by itself. */
export interface Forwarding {
  readonly client: HttpUpstreamClient
  readonly target: UpstreamTarget
}

export async function startProxy(upstreamPort: number, options: ProxyOptions = {}): Promise<Proxy> {
  const client = createUpstreamClient()
  const target = targetOf(upstreamPort, options.target)
  const handled: Exchange[] = []
  const finished: { exchange: Exchange; isComplete: boolean }[] = []
  const refused: { status: number; detail: string }[] = []
  const handler: RequestHandler = {
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    handle(exchange, respond) {
      handled.push(exchange)
      if (options.handle === undefined) client.forward(exchange, target, exchange.request.host, respond)
      else options.handle(exchange, respond, { client, target })
    },
    finished: (exchange, isComplete) => finished.push({ exchange, isComplete }),
    transferred() {},
    refused: (info) => refused.push(info),
  }
  const server = createBindServer(handler)
  const port = await server.listen({ host: '127.0.0.1', port: 0, reusePort: false })
  return {
    port,
    server,
    client,
    handled,
    finished,
    refused,
    close() {
      server.stopAccepting()
      server.destroyAll()
      client.close()
    },
  }
}

export interface Http2Backend {
  readonly port: number
  readonly streams: ServerHttp2Stream[]
  readonly sessions: http2.ServerHttp2Session[]
  readonly requests: { headers: IncomingHttpHeaders; raw: readonly string[] }[]
  close(): Promise<void>
}

export async function startHttp2Backend(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: http2.ServerOptions = {},
): Promise<Http2Backend> {
  const streams: ServerHttp2Stream[] = []
  const sessions: http2.ServerHttp2Session[] = []
  const requests: Http2Backend['requests'] = []
  const server = http2.createServer(options)
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers, _flags, raw) => {
    stream.on('error', () => {})
    streams.push(stream)
    requests.push({ headers, raw })
    onStream(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    streams,
    sessions,
    requests,
    async close() {
      for (const session of sessions) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface Answer {
  readonly headers: IncomingHttpHeaders & { ':status'?: number | undefined }
  readonly trailers: IncomingHttpHeaders | undefined
  readonly body: string
  readonly rstCode: number
}

export function connect(port: number, options: http2.ClientSessionOptions = {}): ClientHttp2Session {
  const session = http2.connect(`http://127.0.0.1:${port}`, options)
  session.on('error', () => {})
  return session
}

/** One request on a session, read to its end. */
export async function ask(
  session: ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string | Buffer,
  trailers?: http2.OutgoingHttpHeaders,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined, waitForTrailers: trailers !== undefined })
  if (trailers !== undefined) stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  return answerOf(stream, body)
}

export async function answerOf(stream: http2.ClientHttp2Stream, body?: string | Buffer): Promise<Answer> {
  let response: Answer['headers'] = {}
  let trailers: IncomingHttpHeaders | undefined
  const chunks: Buffer[] = []
  stream.on('error', () => {})
  stream.on('response', (headers) => {
    response = headers
  })
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (body !== undefined) stream.end(body)
  await new Promise((resolve) => {
    stream.once('close', resolve)
  })
  return { headers: response, trailers, body: Buffer.concat(chunks).toString(), rstCode: stream.rstCode }
}

export const FrameType = {
  Data: 0,
  Headers: 1,
  Reset: 3,
  Settings: 4,
  Ping: 6,
  Goaway: 7,
  WindowUpdate: 8,
  Continuation: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

/** HPACK without compression: literals that are not indexed (RFC 7541 section 6.2.2). */
export function headerBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0]),
      lengthPrefix(name),
      Buffer.from(name, 'latin1'),
      lengthPrefix(value),
      Buffer.from(value, 'latin1'),
    ]),
  )
}

function lengthPrefix(text: string): Buffer {
  if (text.length < 127) return Buffer.from([text.length])
  const bytes = [127]
  let rest = text.length - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

export const GET: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
]

export const POST = GET.map(([name, value]) => [name, name === ':method' ? 'POST' : value] as const)

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Writes frames and collects frames. */
export class FrameClient {
  readonly socket: net.Socket
  readonly frames: Frame[] = []
  isClosed = false
  #rest = Buffer.alloc(0)

  private constructor(socket: net.Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  /** `settings`: payload of the first SETTINGS frame. */
  static async connect(port: number, settings = Buffer.alloc(0)): Promise<FrameClient> {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    const client = new FrameClient(socket)
    await once(socket, 'connect')
    client.write(Buffer.from(PREFACE), frame(FrameType.Settings, 0, 0, settings))
    return client
  }

  write(...frames: Buffer[]): this {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames))
    return this
  }

  headers(stream: number, fields: readonly (readonly [string, string])[], flags = END_STREAM | END_HEADERS): this {
    return this.write(frame(FrameType.Headers, flags, stream, headerBlock(fields)))
  }

  async sees(type: number, stream?: number): Promise<Frame> {
    const find = (): Frame | undefined =>
      this.frames.find((one) => one.type === type && (stream === undefined || one.stream === stream))
    await until(() => find() !== undefined || this.isClosed, `frame ${type} on ${stream}`)
    const found = find()
    if (found === undefined) throw new Error(`closed without frame ${type}: ${JSON.stringify(this.frames)}`)
    return found
  }

  async closes(): Promise<void> {
    await until(() => this.isClosed, 'end of connection')
  }

  /** Error code of the last GOAWAY. */
  get goawayCode(): number | undefined {
    return this.frames.findLast(({ type }) => type === FrameType.Goaway)?.payload.readUInt32BE(4)
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < 9 + length) return
      const payload = Buffer.from(this.#rest.subarray(9, 9 + length))
      const type = this.#rest[3] ?? 0
      const flags = this.#rest[4] ?? 0
      this.frames.push({ type, flags, stream: this.#rest.readUInt32BE(5), payload })
      this.#rest = this.#rest.subarray(9 + length)
      if (type === FrameType.Settings && flags === 0) this.write(frame(FrameType.Settings, 1, 0))
    }
  }
}
