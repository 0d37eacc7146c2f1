// Servers that send messages without end in place of a response: the request fails, and their streams are closed.
// @module-tag full
import { createServer, type Server, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
/** By the method of the request. */
const FLOODS: Readonly<Record<string, string>> = {
  'tools/call': event({ id: 999, result: { content: [] } }),
  'tools/list': event({ method: 'notifications/message', params: { level: 'info', data: 'x' } }),
}

let server: Server
let open = 0
let gateway: TestProxy

function flood(response: ServerResponse, text: string): void {
  const many = text.repeat(1000)
  open++
  response.once('close', () => open--)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const more = (): void => {
    while (!response.destroyed && response.write(many)) continue
    response.once('drain', more)
  }
  more()
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void textOf(request).then((text) => {
      // Messages of this test and of the gateway.
      const { id, method } = JSON.parse(text) as { id: number; method: string }
      const endless = FLOODS[method]
      if (endless !== undefined) return flood(response, endless)
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  const port = await listening(server)
  const [a, b] = [
    { name: 'a', port },
    { name: 'b', port },
  ]
  gateway = await testProxy({
    workers: 1,
    routes: [upstreamRoute(a), mcpRoute('one', [a]), mcpRoute('two', [a, b])],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
})

async function post(url: string, message: object, session?: string): Promise<Response> {
  const headers = { ...HEADERS, ...(session !== undefined && { 'mcp-session-id': session }) }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) })
}

it.each([
  ['one', 'tools/call', { name: 'x' }],
  ['two', 'tools/call', { name: 'a_x' }],
  ['one', 'tools/list', {}],
  ['two', 'tools/list', {}],
])('%s: %s fails', async (route, method, params) => {
  const url = `${gateway.url}/${route}`
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const opened = await post(url, { method: 'initialize', params: client })
  const response = await post(url, { method, params }, opened.headers.get('mcp-session-id') ?? '')
  expect(await response.text()).toContain('the MCP server could not be called')
  await until('the streams of the server are closed', () => open === 0)
})
