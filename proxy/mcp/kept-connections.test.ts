// A call of a tool must not cost a connection: servers that stream end their stream after the response, often later.
import { createServer, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const CALLS = 30
const JSON_TYPE = { 'content-type': 'application/json' }
const STREAM = { 'content-type': 'text/event-stream' }
const RESULT = { content: [{ type: 'text', text: 'done' }] }
let server: Server
let gateway: TestProxy
let connections = 0
/** Streams that the gateway has left before their end. */
let left = 0

const event = (id: number): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: RESULT })}\n\n`
const NOTIFICATION = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n\n`

interface Message {
  readonly id: number | undefined
  readonly method: string
  readonly params?: { readonly name: string }
}

/** The tool that is called decides how the server ends its stream. */
const RESPONSES: Readonly<Record<string, (response: ServerResponse, id: number) => unknown>> = {
  'at once': (response, id) => response.end(event(id)),
  'with the event before it': (response, id) => response.end(NOTIFICATION + event(id)),
  'in the next turn': (response, id) => response.write(event(id), () => setImmediate(() => response.end())),
  'after 20 ms': (response, id) => response.write(event(id), () => setTimeout(() => response.end(), 20)),
  'with a comment': (response, id) => response.write(event(id), () => setImmediate(() => response.end(': over\n\n'))),
  never: (response, id) => response.write(event(id)),
  'never, and floods': async (response, id) => {
    response.write(event(id))
    while (!response.closed) {
      response.write(NOTIFICATION.repeat(100))
      await delay(1)
    }
  },
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as Message // of a test
      const answer = RESPONSES[params?.name ?? '']
      if (method === 'tools/call' && id !== undefined && answer !== undefined) {
        response.on('close', () => (left += response.writableFinished ? 0 : 1))
        return answer(response.writeHead(200, STREAM), id)
      }
      const opened = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      }
      if (id === undefined) return response.writeHead(202).end()
      return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result: opened }))
    })
  })
  server.on('connection', () => connections++)
  const port = await listening(server)
  const mcp = (...names: string[]) => ({
    targets: names.map((name) => ({ name, ref: { backend: 'ns/up' } })),
    sessionRouting: 'Stateless' as const,
    prefixMode: 'Conditional' as const,
    failureMode: 'FailClosed' as const,
  })
  gateway = await testProxy({
    routes: [
      { name: 'up', prefix: '/unused', backend: { static: { host: '127.0.0.1', port } } },
      { name: 'one', prefix: '/one', backend: { mcp: mcp('a') } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  server.closeAllConnections()
  closeServer(server)
})

async function call(name: string): Promise<string> {
  const response = await fetch(`${gateway.url}/one`, {
    method: 'POST',
    headers: { ...JSON_TYPE, accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } }),
  })
  return response.text()
}

describe('a server that ends its stream', () => {
  it.each(['at once', 'with the event before it', 'in the next turn', 'after 20 ms', 'with a comment'])(
    '%s keeps its connection',
    async (name) => {
      const before = connections
      for (let n = 0; n < CALLS; n++) expect(await call(name)).toContain('done')
      expect(connections - before).toBeLessThan(CALLS / 2)
    },
  )

  it.each(['never', 'never, and floods'])('%s loses it', async (name) => {
    const before = left
    expect(await call(name)).toContain('done')
    await expect.poll(() => left - before, { timeout: 5000 }).toBe(1)
  })
})
