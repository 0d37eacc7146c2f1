// A proxy that opens connections by CONNECT and forwards plain requests. Only this proxy resolves `echo.internal`, so
// requests to it came through this proxy.
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'

export function egress(): Server {
  const server = createServer(forward)
  server.on('connect', ({ url = '' }, client) => {
    client.on('error', () => undefined)
    const [host = '', port = ''] = url.split(':')
    if (host !== 'echo.internal') {
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const upstream = connect({ host: '127.0.0.1', port: Number(port) }, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  return server
}

/** Handles requests with an absolute URI, from which it sets Host; adds `via`. */
function forward(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request
  if (!url.startsWith('http://echo.internal:')) {
    response.writeHead(403).end('the proxy cannot resolve this host')
    return
  }
  const { host, port, pathname, search } = new URL(url)
  const options = { host: '127.0.0.1', port, method, path: pathname + search }
  const upstream = send({ ...options, headers: { ...headers, host, via: '1.1 egress' } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  request.pipe(upstream)
}
