// Echo server of the samples: answers with its name and what it received, as JSON; over TLS also with the result of
// the handshake, as if it were a header.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'

/** The parts of the echo server's response that tests read. */
export interface Echo {
  readonly server: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For a path that ends in NAMES: names of header fields as received. */
  readonly names?: readonly string[]
}

export const NAMES = '/names'

/** Paths with this end get only the beginning of a response. */
export const ENDLESS = '/endless'

type Listener = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void

export function echo(server: string): Listener {
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url } = request
      if (url?.endsWith(ENDLESS) === true) {
        Readable.from(begun()).pipe(response)
        return
      }
      const headers = { ...request.headers, ...agreedOn(request.socket) }
      const body = Buffer.concat(chunks).toString('utf8')
      const names = url?.endsWith(NAMES) === true ? { names: request.rawHeaders.filter((_, at) => at % 2 === 0) } : {}
      const answer = { server, method, path: url, headers, ...(body === '' ? {} : { body }), ...names }
      response.setHeader('content-type', 'application/json')
      response.setHeader('x-powered-by', 'echo')
      response.end(`${JSON.stringify(answer, null, 2)}\n`)
    })
  }
}

async function* begun(): AsyncGenerator<string> {
  yield 'begun'
  await new Promise(() => {})
}

function agreedOn(socket: Socket): Record<string, string> {
  if (!(socket instanceof TLSSocket)) return {}
  return { 'x-tls-alpn': String(socket.alpnProtocol) }
}
