// An A2A agent of the samples: serves a card that names its own address, and answers messages.
import type { RequestListener } from 'node:http'

export const agent: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json')
  const url = `http://${request.socket.localAddress}:${request.socket.localPort}/`
  if (request.method === 'GET' && request.url === '/.well-known/agent-card.json') {
    response.end(JSON.stringify({ name: 'echo agent', url, supportedInterfaces: [{ url: `${url}a2a/v1` }] }))
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const message: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answerTo(message, request.url) }))
  })
}

/** A finished task; there are no others. */
function answerTo(message: unknown, path: string | undefined): object {
  const { method, params } = message as { method: string; params?: { contextId?: string } } // of these tests
  if (method !== 'message/send') return { error: { code: -32_001, message: 'no such task' } }
  return { result: { kind: 'task', id: 't', path, contextId: params?.contextId, status: { state: 'completed' } } }
}
