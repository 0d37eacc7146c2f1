// Echo server of the quickstart: answers with what it received, as JSON.
import { createServer, type Server } from 'node:http'

export function echoServer(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const body = Buffer.concat(chunks).toString('utf8')
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify({ method, path: url, headers, ...(body === '' ? {} : { body }) }, null, 2)}\n`)
    })
  })
}
