// A small node:http server on the main thread for admin, metrics and readiness: bounded, with clear start errors.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { startError } from '../socket/start-error.ts'

const CONNECTIONS_MAX = 256
const HEADER_BYTES_MAX = 16 * 1024
const REQUEST_MS_MAX = 30_000
const IDLE_MS_MAX = 15_000

export interface ListenAddress {
  /** `localhost` stands for 127.0.0.1 and, when there is one, ::1. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface HttpListener {
  readonly port: number
  close(): Promise<void>
}

/** @throws {StartError} */
export async function listenHttp(
  what: string,
  { host, port }: ListenAddress,
  handle: RequestListener,
): Promise<HttpListener> {
  const first = await listenOne(what, { host: host === 'localhost' ? '127.0.0.1' : host, port }, handle)
  const servers = [first]
  const bound = portOf(first)
  if (host === 'localhost') {
    // A machine without IPv6 is not a failure; a port on ::1 that another process uses is one.
    const second = await listenOne(what, { host: '::1', port: bound }, handle).catch((error: unknown) => {
      if (port !== 0 && error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
        first.close()
        throw error
      }
    })
    if (second !== undefined) servers.push(second)
  }
  return {
    port: bound,
    close: async () => {
      await Promise.all(servers.map((server) => closeServer(server)))
    },
  }
}

async function listenOne(what: string, { host, port }: ListenAddress, handle: RequestListener): Promise<Server> {
  const server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: REQUEST_MS_MAX, keepAliveTimeout: IDLE_MS_MAX },
    handle,
  )
  server.maxConnections = CONNECTIONS_MAX
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, resolve)
    })
  } catch (error) {
    throw await startError({ what, host, port }, error)
  }
  // After the start an error of the listening socket (EMFILE on accept) is not fatal.
  server.on('error', () => undefined)
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // Answers here are short; whatever is still open after the event loop has turned may go.
    setImmediate(() => server.closeAllConnections())
  })
}

/** Path without query, and the query. Never throws on odd request targets. */
export function splitTarget(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const target = request.url ?? '/'
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: new URLSearchParams() }
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) }
}

/** undefined: it is longer than `bytesMax`. */
export async function bodyText(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  // node:http yields buffers, as no encoding is set.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function sendText(response: ServerResponse, status: number, body: string): void {
  send(response, { status, type: 'text/plain; charset=utf-8', body })
}

/** Indented for people, unless it is `isCompact`: a large value then takes half the time and a third of the bytes. */
export function sendJson(response: ServerResponse, body: unknown, isCompact = false): void {
  const text = JSON.stringify(body, undefined, isCompact ? 0 : 2)
  send(response, { status: 200, type: 'application/json', body: `${text}\n` })
}

export function send(
  response: ServerResponse,
  answer: { status: number; type: string; body: string | Uint8Array },
): void {
  const bytes = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
  response.writeHead(answer.status, {
    'content-type': answer.type,
    'content-length': bytes.length,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(bytes)
}
