// One HTTP request or one gRPC call, with everything about it as data. Failures are answers.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'

const TIMEOUT_MS = 10_000
const BODY_CHARS_MAX = 64 * 1024

export interface HttpQuestion {
  /** Address and port are where the connection goes; the scheme https makes it TLS. */
  readonly url: string
  readonly host?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** TLS: server name to ask for; the certificate is reported, not checked. */
  readonly serverName?: string
  readonly key?: string
  readonly cert?: string
}

export interface HttpAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body?: string
  /** TLS: SHA-256 fingerprint of the server's certificate. */
  readonly certificate?: string
  readonly error?: string
}

export interface GrpcQuestion {
  readonly url: string
  readonly authority: string
  readonly path: string
  readonly message: string
}

export async function sendHttp(question: HttpQuestion): Promise<HttpAnswer> {
  const { promise, resolve } = Promise.withResolvers<HttpAnswer>()
  const url = new URL(question.url)
  const { serverName, key, cert } = question
  const options = {
    method: question.method ?? 'GET',
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { host: question.host ?? url.host, connection: 'close', ...question.headers },
    rejectUnauthorized: false,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(key === undefined || cert === undefined ? {} : { key, cert }),
  }
  const receive = (response: IncomingMessage): void => {
    const certificate =
      response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().fingerprint256 : undefined
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      if (body.length < BODY_CHARS_MAX) body += chunk
    })
    response.on('error', (error) => resolve({ error: error.message }))
    response.on('end', () => {
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers, body, ...(certificate === undefined ? {} : { certificate }) })
    })
  }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const request = send(url, options, receive)
  request.on('error', (error) => resolve({ error: error.message }))
  request.end(question.body)
  return promise
}

/** A unary call without TLS; the message goes as it is, and comes back as it is. */
export async function callGrpc({ url, authority, path, message }: GrpcQuestion): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const session = connectHttp2(url)
  const timer = setTimeout(() => session.destroy(new Error('timeout')), TIMEOUT_MS)
  session.on('error', (error) => resolve({ error: error.message }))
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    ':authority': authority,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const payload = Buffer.from(message)
  const frame = Buffer.alloc(5 + payload.length)
  frame.writeUInt32BE(payload.length, 1)
  payload.copy(frame, 5)
  const chunks: Buffer[] = []
  let head: Readonly<Record<string, unknown>> = {}
  let trailers: Readonly<Record<string, unknown>> = {}
  stream.on('response', (headers) => {
    head = headers
  })
  stream.on('trailers', (headers) => {
    trailers = headers
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', (error) => resolve({ error: error.message }))
  stream.on('close', () => {
    clearTimeout(timer)
    session.close()
    const status = trailers['grpc-status'] ?? head['grpc-status']
    resolve({ status, pod: head['x-pod'], message: Buffer.concat(chunks).subarray(5).toString('utf8') })
  })
  stream.end(frame)
  return promise
}
