// Guardrails of the first request of a client, through the gateway, with a service that does not exist.
// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { MCPGuardrails } from '#api/ir/types.gen.ts'
import { closeServer } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, mcpRoute, type Upstream, upstreamRoute } from '../servers.testing.ts'

let server: Upstream
let gateway: TestProxy

const guarded = (phase: 'Request' | 'Response' | 'Off'): { mcpGuardrails: MCPGuardrails } => ({
  mcpGuardrails: {
    processors: [
      { service: { backend: 'ns/none' }, failureMode: 'FailClosed', methods: [{ method: 'initialize', phase }] },
    ],
  },
})

beforeAll(async () => {
  server = await legacyUpstream('a')
  gateway = await testProxy({
    routes: [
      upstreamRoute(server),
      mcpRoute('request', [server], { inlinePolicies: guarded('Request') }),
      mcpRoute('response', [server], { inlinePolicies: guarded('Response') }),
      mcpRoute('off', [server], { inlinePolicies: guarded('Off') }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server.server)
})

async function initialize(route: string): Promise<Response> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  return fetch(`${gateway.url}/${route}`, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
}

it.each([
  ['request', []],
  ['response', ['initialize', 'DELETE']],
])('a rejected initialize opens no session (%s)', async (route, seen) => {
  server.seen.length = 0
  const response = await initialize(route)
  expect(response.status).toBe(200)
  expect(response.headers.get('mcp-session-id')).toBeNull()
  expect(await response.text()).toContain('{"code":-32603,"message":"a guardrail could not check the message"}')
  expect(server.seen).toEqual(seen)
})

it('an initialize that no guardrail checks opens a session', async () => {
  const response = await initialize('off')
  expect(response.headers.get('mcp-session-id')).not.toBeNull()
  await response.text()
})
