// For tests of the engine: raw sockets on both sides, a handler that forwards, waiting for conditions. Not used in
// production.
import { once } from 'node:events'
import net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { createUpstreamClient, type HttpUpstreamClient, type UpstreamClientOptions } from '../upstream/client.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { type ConnectionLimits, DEFAULT_LIMITS, type RequestHandler } from './handler.ts'
import { createHttpServer, type HttpServer } from './server.ts'

const DEADLINE_MS = 30_000

/** Polls until the condition holds. */
export async function until(condition: () => boolean, what = 'condition'): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}

/** Polls until a value has stopped changing: the parties wait for each other. */
export async function settled(value: () => number): Promise<void> {
  let last = value()
  let unchanged = 0
  await until(() => {
    unchanged = value() === last ? unchanged + 1 : 0
    last = value()
    return unchanged >= 40
  }, 'a value that stops changing')
}

/** A client that writes bytes and sees bytes. */
export class RawClient {
  readonly socket: net.Socket
  text = ''
  bytes = 0
  isEnded = false
  isClosed = false

  private constructor(socket: net.Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length
      if (this.text.length < 1_000_000) this.text += chunk.toString('latin1')
    })
    socket.on('end', () => {
      this.isEnded = true
    })
    socket.on('close', () => {
      this.isClosed = true
      this.isEnded = true
    })
    socket.on('error', () => {})
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const client = new RawClient(socket)
    await once(socket, 'connect')
    return client
  }

  send(text: string | Buffer): this {
    if (typeof text === 'string') this.socket.write(text, 'latin1')
    else this.socket.write(text)
    return this
  }

  async sees(text: string): Promise<void> {
    await until(() => this.text.includes(text) || this.isEnded, `"${text}" in "${this.text.slice(0, 500)}"`)
    if (!this.text.includes(text))
      throw new Error(`ended without "${text}": ${JSON.stringify(this.text.slice(0, 500))}`)
  }

  async ends(): Promise<string> {
    await until(() => this.isEnded, `end of connection after "${this.text.slice(0, 500)}"`)
    return this.text
  }
}

export interface Upstream {
  readonly port: number
  readonly sockets: net.Socket[]
  /** Everything all connections sent. */
  received(): string
  close(): Promise<void>
}

/** A backend of raw sockets: `onText` is called with all text of a connection whenever more came. */
export async function startUpstream(
  onText: (socket: net.Socket, text: string, connection: number) => void,
  options: { readonly isManual?: boolean } = {},
): Promise<Upstream> {
  const sockets: net.Socket[] = []
  const texts: string[] = []
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const at = sockets.push(socket) - 1
    texts.push('')
    socket.on('error', () => {})
    socket.on('end', () => {
      // After the test's own listeners, which may have something to say.
      setImmediate(() => socket.end())
    })
    if (options.isManual === true) {
      onText(socket, '', at)
      return
    }
    socket.on('data', (chunk: Buffer) => {
      texts[at] += chunk.toString('latin1')
      onText(socket, texts[at] ?? '', at)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    sockets,
    received: () => texts.join(''),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers each head without body as soon as it is complete; counts requests per connection. */
export function answering(
  response: string | ((request: string) => string),
): (socket: net.Socket, text: string) => void {
  const answered = new WeakMap<net.Socket, number>()
  return (socket, text) => {
    let from = answered.get(socket) ?? 0
    for (;;) {
      const end = text.indexOf('\r\n\r\n', from)
      if (end < 0) break
      const request = text.slice(from, end + 4)
      from = end + 4
      socket.write(typeof response === 'string' ? response : response(request), 'latin1')
    }
    answered.set(socket, from)
  }
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

export interface Proxy {
  readonly port: number
  readonly server: HttpServer
  readonly client: HttpUpstreamClient
  readonly target: UpstreamTarget
  readonly refused: { status: number; detail: string }[]
  readonly finished: { exchange: Exchange; isComplete: boolean }[]
  readonly handled: Exchange[]
  connect(): Promise<RawClient>
  close(): void
}

export interface ProxyOptions {
  readonly limits?: Partial<ConnectionLimits>
  readonly client?: UpstreamClientOptions
  readonly target?: Partial<UpstreamTarget>
  /** Instead of forwarding. */
  readonly handle?: (exchange: Exchange, respond: (exchange: Exchange) => void, proxy: Proxy) => void
}

export function targetOf(port: number, extra: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const base = { host: '127.0.0.1', port, unixPath: undefined, tls: undefined, connectTimeoutMs: 5000 }
  return { key: `127.0.0.1:${port}`, ...base, ...extra }
}

/** Engine on both sides with nothing in between. */
export async function startProxy(upstreamPort: number, options: ProxyOptions = {}): Promise<Proxy> {
  const client = createUpstreamClient(options.client)
  const target = targetOf(upstreamPort, options.target)
  const refused: { status: number; detail: string }[] = []
  const finished: { exchange: Exchange; isComplete: boolean }[] = []
  const handled: Exchange[] = []
  const handler: RequestHandler = {
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    handle(exchange, respond) {
      handled.push(exchange)
      if (options.handle === undefined) client.forward(exchange, target, exchange.request.host, respond)
      else options.handle(exchange, respond, proxy)
    },
    finished(exchange, isComplete) {
      finished.push({ exchange, isComplete })
    },
    transferred() {},
    refused(info) {
      refused.push(info)
    },
  }
  const server = createHttpServer(handler)
  const port = await server.listen({ host: '127.0.0.1', port: 0, reusePort: false })
  const proxy: Proxy = {
    port,
    server,
    client,
    target,
    refused,
    finished,
    handled,
    connect: () => RawClient.connect(port),
    close() {
      server.stopAccepting()
      server.destroyAll()
      client.close()
    },
  }
  return proxy
}

export function portOf(server: net.Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('not listening')
  return address.port
}
