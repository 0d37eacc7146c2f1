// Policies of an MCP server read the identity of the client: calls of servers are made for the client's request.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { type TestIssuer, testIssuer } from '../../auth/jwt.testing.ts'

const INIT = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
}

const seen: IncomingHttpHeaders[] = []
let server: Server
let gateway: TestProxy
let issuer: TestIssuer

beforeAll(async () => {
  issuer = await testIssuer('https://issuer.example')
  server = createServer((request, response) => {
    seen.push(request.headers)
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { id } = JSON.parse(text) as { id: number } // sent by this test
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    })
  })
  gateway = await testProxy({
    routes: [
      {
        name: 'server',
        prefix: '/unused',
        backend: {
          static: { host: '127.0.0.1', port: await listening(server) },
          inlinePolicies: {
            auth: { passthrough: true },
            transformation: {
              request: {
                set: [
                  { name: 'x-user', expression: 'jwt.sub' },
                  { name: 'x-tier', expression: 'metadata.tier' },
                ],
                metadata: [{ name: 'seenBy', expression: '"server"' }],
              },
            },
          },
        },
      },
      {
        name: 'mcp',
        prefix: '/mcp',
        backend: {
          mcp: {
            targets: [{ name: 'a', ref: { backend: 'ns/server' } }],
            sessionRouting: 'Stateless',
            prefixMode: 'Conditional',
            failureMode: 'FailClosed',
          },
        },
        inline: {
          jwtAuthentication: { mode: 'Strict', providers: [issuer.provider] },
          transformation: {
            request: { metadata: [{ name: 'tier', expression: '"gold"' }] },
            response: { set: [{ name: 'x-seen-by', expression: 'has(metadata.seenBy) ? "a server" : "no server"' }] },
          },
        },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
})

it('expressions of a server read the verified token and the metadata of the request', async () => {
  const token = await issuer.token({ sub: 'ann' })
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(INIT),
  })
  expect(response.status).toBe(200)
  await response.text()
  const [asked] = seen
  expect([asked?.['x-user'], asked?.['x-tier'], asked?.authorization]).toEqual(['ann', 'gold', `Bearer ${token}`])
  // Values set by a policy of the server apply to that call only.
  expect(response.headers.get('x-seen-by')).toBe('no server')
})
