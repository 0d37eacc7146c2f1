// Which responses are JSON and which are event streams, and what a server that sends JSON can do wrong.
// @module-tag full
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
let server: Server
let gateway: TestProxy

const result = (id: number, value: object): string => JSON.stringify({ jsonrpc: '2.0', id, result: value })

/** The tool that is called decides how the server responds. */
const RESPONSES: Readonly<Record<string, (response: ServerResponse, id: number) => void>> = {
  spaced: (response, id) =>
    void response
      .writeHead(200, JSON_TYPE)
      .end(`{ "jsonrpc": "2.0",  "id": ${id}, "result": { "n": 1.50, "é": "\\u00e9" } }`),
  streamed: (response, id) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n\n`)
    response.end(`data: ${result(id, { ok: true })}\n\n`)
  },
  large: (response, id) =>
    void response.writeHead(200, JSON_TYPE).end(result(id, { text: 'x'.repeat(20 * 1024 * 1024) })),
  tooLarge: (response, id) =>
    void response.writeHead(200, JSON_TYPE).end(result(id, { text: 'x'.repeat(33 * 1024 * 1024) })),
  forged: (response, id) => void response.writeHead(200, JSON_TYPE).end(result(id + 1, { forged: true })),
  cut: (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' }).write('{ "jsonrpc"')
    setImmediate(() => response.destroy())
  },
  text: (response) => void response.writeHead(200, JSON_TYPE).end('hello'),
  empty: (response) => void response.writeHead(200, JSON_TYPE).end(),
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { name: string } } // of a test
      const answer = RESPONSES[params.name]
      if (method === 'tools/call' && answer !== undefined) return answer(response, id)
      const capabilities = { tools: {} }
      const opened = { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 's', version: '1' }, tools: [] }
      return response.writeHead(200, JSON_TYPE).end(result(id, opened))
    })
  })
  const port = await listening(server)
  const mcp = (...names: string[]) => ({
    targets: names.map((name) => ({ name, ref: { backend: 'ns/up' } })),
    sessionRouting: 'Stateful' as const,
    prefixMode: 'Conditional' as const,
    failureMode: 'FailClosed' as const,
  })
  gateway = await testProxy({
    routes: [
      { name: 'up', prefix: '/unused', backend: { static: { host: '127.0.0.1', port } } },
      { name: 'one', prefix: '/one', backend: { mcp: mcp('a') } },
      { name: 'two', prefix: '/two', backend: { mcp: mcp('a', 'b') } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
})

async function post(path: string, method: string, params: object = {}, session?: string): Promise<Response> {
  const headers = {
    ...JSON_TYPE,
    accept: 'application/json, text/event-stream',
    ...(session && { 'mcp-session-id': session }),
  }
  return fetch(gateway.url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  })
}

async function call(path: string, name: string): Promise<{ status: number; type: string | null; text: string }> {
  const opened = await post(path, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })
  await opened.text()
  const response = await post(path, 'tools/call', { name }, opened.headers.get('mcp-session-id') ?? '')
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('responses to requests', () => {
  it('are JSON for one server that sends JSON, with its bytes', async () => {
    expect(await call('/one', 'spaced')).toEqual({
      status: 200,
      type: 'application/json',
      text: '{ "jsonrpc": "2.0",  "id": 7, "result": { "n": 1.50, "é": "\\u00e9" } }',
    })
  })

  it('are event streams if the server sends one', async () => {
    const { type, text } = await call('/one', 'streamed')
    expect(type).toBe('text/event-stream')
    expect(text.match(/^event: message$/gm)).toHaveLength(2)
  })

  it.each(['/one', '/two'])('are JSON if the gateway makes them (%s)', async (path) => {
    const opened = await post(path, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })
    expect(opened.headers.get('content-type')).toBe('application/json')
    expect(await opened.json()).toMatchObject({ id: 7, result: { protocolVersion: '2025-06-18' } })
    const listed = await post(path, 'tools/list', {}, opened.headers.get('mcp-session-id') ?? '')
    expect(await listed.json()).toEqual({ jsonrpc: '2.0', id: 7, result: { tools: [] } })
  })

  it('may have 20 MiB', async () => {
    const { text } = await call('/one', 'large')
    expect(text).toHaveLength(result(7, { text: '' }).length + 20 * 1024 * 1024)
  })

  it('of one of several servers are JSON', async () => {
    expect(await call('/two', 'b_spaced')).toMatchObject({ status: 200, type: 'application/json' })
  })
})

describe('a server that sends JSON', () => {
  it.each(['tooLarge', 'cut', 'text'])('fails the request: %s', async (name) => {
    const { status, text } = await call('/one', name)
    expect(status).toBe(500)
    expect(JSON.parse(text)).toMatchObject({ id: 7, error: { message: 'the MCP server could not be called' } })
  })

  it.each(['forged', 'empty'])('cannot leave the client without a response: %s', async (name) => {
    const { text } = await call('/one', name)
    expect(text).toContain('"id":7')
    expect(text).toContain('the MCP server could not be called')
    expect(text).not.toContain('forged')
  })
})
