// Servers that change the era of their protocol while the gateway remembers it.
// @module-tag full
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, mcpRoute, modernUpstream, type Upstream, upstreamRoute } from '../servers.testing.ts'

let upstreams: Upstream[]
let server: Server
let gateway: TestProxy
let current = 0

beforeAll(async () => {
  upstreams = [await modernUpstream('x'), await legacyUpstream('x')]
  server = createServer((request, response) => {
    const [listener] = upstreams[current]?.server.listeners('request') ?? []
    // The only listener of an HTTP server.
    ;(listener as RequestListener)(request, response)
  })
  const changing = { name: 'x', port: await listening(server) }
  gateway = await testProxy({
    workers: 1,
    routes: [upstreamRoute(changing), mcpRoute('x', [changing], { sessionRouting: 'Stateless' })],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server: one } of upstreams) closeServer(one)
  closeServer(server)
})

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'whoami' }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function call(clientEra: string): Promise<string> {
  const isModern = clientEra === 'modern'
  const params = { name: 'whoami', ...(isModern && { _meta: META }) }
  const response = await fetch(`${gateway.url}/x`, {
    method: 'POST',
    headers: { ...HEADERS, ...(isModern && MODERN) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  return response.text()
}

it.each(['modern', 'legacy'])('a %s client reaches a server before and after each change', async (clientEra) => {
  for (const era of [0, 1, 0]) {
    current = era
    expect(await call(clientEra)).toContain('"text":"x"')
    expect(await call(clientEra)).toContain('"text":"x"')
  }
})
