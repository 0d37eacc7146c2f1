// An A2A agent of the samples: serves a card that names its own address, and answers messages.
import type { RequestListener } from 'node:http'

export const agent: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json')
  const url = `http://${request.socket.localAddress}:${request.socket.localPort}/`
  if (request.method === 'GET' && request.url === '/.well-known/agent-card.json') {
    response.end(JSON.stringify({ name: 'echo agent', url, supportedInterfaces: [{ url: `${url}a2a/v1` }] }))
    return
  }
  request.resume().on('end', () => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { kind: 'message', path: request.url } }))
  })
}
