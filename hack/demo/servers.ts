// Upstreams of the demo image that say which pod answered.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net'

const BODY_BYTES_MAX = 1024 * 1024
const DELAY_MS_MAX = 30_000

const pod = process.env['POD_NAME'] ?? process.env['HOSTNAME'] ?? ''
const version = process.env['VERSION'] ?? ''

export interface EchoServer {
  readonly server: Server
  /** Readiness ends; requests are still answered. */
  leave(): void
}

/** `/healthz`, `/status/503`, `/slow/250` (milliseconds); everything else comes back as JSON. */
export function echoServer(): EchoServer {
  let isReady = true
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES_MAX) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const path = request.url ?? '/'
      if (path === '/healthz') response.writeHead(isReady ? 200 : 503).end()
      else {
        const [, kind, value] = /^\/(status|slow)\/(\d+)/.exec(path) ?? []
        const wait = kind === 'slow' ? Math.min(Number(value), DELAY_MS_MAX) : 0
        const status = kind === 'status' ? Number(value) : 200
        setTimeout(() => echo(request, response, { status, body: Buffer.concat(chunks).toString('utf8') }), wait)
      }
    })
  })
  return {
    server,
    leave() {
      isReady = false
    },
  }
}

function echo(request: IncomingMessage, response: ServerResponse, answer: { status: number; body: string }): void {
  const { method, url, headers } = request
  response.writeHead(answer.status, { 'content-type': 'application/json', 'x-pod': pod })
  response.end(`${JSON.stringify({ pod, version, method, path: url, headers, body: answer.body })}\n`)
}

/** Says `pod NAME`, then gives back what it is sent. */
export function tcpServer(): TcpServer {
  return createTcpServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`pod ${pod}\n`)
    socket.pipe(socket)
  })
}

/** Every unary or streamed call gets its own messages back. */
export function grpcServer(): Http2Server {
  const server = createHttp2Server()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => stream.destroy())
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'x-pod': pod }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.pipe(stream)
  })
  return server
}
