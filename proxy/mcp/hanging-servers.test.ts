// One of several servers that takes messages and never answers: it costs its own deadline, and the others serve.
// @module-tag full
import { createServer, type Server } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from './servers.testing.ts'

const DEADLINE_MS = 3000
/** Far below the time that the head of a single response may take. */
const BOUND_MS = 20_000
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

let serving: LegacyUpstream
let stuck: Server
let gateway: TestProxy

beforeAll(async () => {
  serving = await legacyUpstream('a')
  stuck = createServer((request, response) => {
    void textOf(request).then((text) => {
      if (!text.includes('"initialize"')) return
      // A message of the gateway.
      const { id } = JSON.parse(text) as { id: number }
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  const upstreams = [serving, { name: 'stuck', port: await listening(stuck) }]
  const inlinePolicies = { http: { requestTimeoutMs: DEADLINE_MS } }
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...upstreams.map(upstreamRoute),
      mcpRoute('open', upstreams, { failureMode: 'FailOpen', inlinePolicies }),
      mcpRoute('closed', upstreams, { inlinePolicies }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(serving.server)
  closeServer(stuck)
})

async function sessionOf(route: string): Promise<{ readonly headers: Record<string, string>; readonly url: string }> {
  const url = `${gateway.url}/${route}`
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body })
  expect(response.status).toBe(200)
  return { headers: { ...HEADERS, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }, url }
}

it.each([
  ['open', 202],
  ['closed', 500],
])('a notification takes as long as the deadline of the server (%s)', async (route, status) => {
  const { headers, url } = await sessionOf(route)
  const startMs = performance.now()
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(BOUND_MS) })
  expect(response.status).toBe(status)
  expect(performance.now() - startMs).toBeLessThan(BOUND_MS)
})

it('the stream of a client has the messages of the other server', async () => {
  const { headers, url } = await sessionOf('open')
  const client = new AbortController()
  const signal = AbortSignal.any([client.signal, AbortSignal.timeout(BOUND_MS)])
  const response = await fetch(url, { headers, signal })
  expect(response.status).toBe(200)
  await until('the other server has the stream', () => serving.seen.includes('GET'))
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  await serving.notify('notifications/tools/list_changed')
  expect((await reader?.read())?.value).toContain('notifications/tools/list_changed')
  client.abort()
})
