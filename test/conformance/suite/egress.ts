// A proxy that opens connections by CONNECT. `echo.internal` is a name that nobody else knows: what reaches it came
// this way.
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'

export function egress(): Server {
  const server = createServer((_request, response) => response.writeHead(405).end())
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
