// Clients that open the stream of their session and leave, again and again, while the servers stay silent.
// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

const ROUNDS = 100
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

let servers: LegacyUpstream[]
let gateway: TestProxy
let open = 0

beforeAll(async () => {
  servers = [await legacyUpstream('a'), await legacyUpstream('b')]
  for (const { server } of servers) {
    server.prependListener('request', (request, response) => {
      if (request.method !== 'GET') return
      open++
      response.once('close', () => open--)
    })
  }
  gateway = await testProxy({
    workers: 2,
    routes: [...servers.map(upstreamRoute), mcpRoute('one', servers.slice(0, 1)), mcpRoute('two', servers)],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
})

it.each(['one', 'two'])('leave no stream at the servers, and get each new one (%s)', async (route) => {
  const url = `${gateway.url}/${route}`
  const post = (message: object, headers: Record<string, string> = HEADERS): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const opened = await post({ method: 'initialize', params })
  const headers = { ...HEADERS, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await post({ method: 'notifications/initialized', id: undefined }, headers)
  for (let round = 0; round < ROUNDS; round++) {
    const client = new AbortController()
    const response = await fetch(url, { headers, signal: client.signal })
    expect(response.status).toBe(200)
    client.abort()
  }
  await until('no stream is open', () => open === 0)
  const listed = await post({ method: 'tools/list' }, headers)
  expect(await listed.text()).toContain('whoami')
})
