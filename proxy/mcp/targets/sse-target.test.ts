// MCP servers over the legacy SSE transport, with the server of the official SDK and with servers that break rules.
// @module-tag full
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'

/** Sessions of the server of the SDK. */
const transports = new Map<string, SSEServerTransport>()
const servers = new Map<string, McpServer>()
/** What the server that breaks rules does with a stream and with messages. */
let onStream: (response: ServerResponse) => void = () => {}
let onMessage: (message: { readonly id: number; readonly method: string }) => void = () => {}
let stream: ServerResponse | undefined
let upstream: Server
let gateway: TestProxy
const clients: Client[] = []

function toolServer(): McpServer {
  const server = new McpServer({ name: 'old', version: '1' }, { capabilities: { logging: {} } })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool('echo', { inputSchema: { word: z.string() } }, ({ word }) => text(word))
  server.registerTool('large', { inputSchema: { bytes: z.number() } }, ({ bytes }) => text('x'.repeat(bytes)))
  server.registerTool('steps', {}, async ({ sendNotification, _meta }) => {
    for (const progress of [1, 2]) {
      const params = { progressToken: _meta?.progressToken ?? '', progress }
      await sendNotification({ method: 'notifications/progress', params })
    }
    return text('done')
  })
  server.registerTool('ask', {}, async () => {
    const requestedSchema = { type: 'object' as const, properties: { word: { type: 'string' as const } } }
    const { content } = await server.server.elicitInput({ message: 'word?', requestedSchema })
    return text(String(content?.['word']))
  })
  return server
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'GET' && url.pathname === '/sse') {
    const transport = new SSEServerTransport('/messages', response)
    transports.set(transport.sessionId, transport)
    response.on('close', () => transports.delete(transport.sessionId))
    const server = toolServer()
    servers.set(transport.sessionId, server)
    await server.connect(transport)
    return
  }
  if (url.pathname === '/messages') {
    const transport = transports.get(url.searchParams.get('sessionId') ?? '')
    if (transport === undefined) response.writeHead(404).end()
    else await transport.handlePostMessage(request, response)
    return
  }
  if (request.method === 'GET') {
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
    onStream(response)
    return
  }
  let body = ''
  for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString()
  response.writeHead(202).end('Accepted')
  onMessage(JSON.parse(body) as { id: number; method: string }) // sent by the gateway
}

const route = (name: string, path: string | undefined, targets: readonly string[]): TestRoute => ({
  name,
  prefix: `/${name}`,
  backend: {
    mcp: {
      targets: targets.map((target) => ({
        name: target,
        ref: { backend: 'ns/old' },
        protocol: 'SSE',
        ...(path !== undefined && { path }),
      })),
      sessionRouting: name === 'stateless' ? 'Stateless' : 'Stateful',
      prefixMode: 'Conditional',
      failureMode: 'FailClosed',
    } satisfies MCPBackend,
  },
})

beforeAll(async () => {
  upstream = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const port = await listening(upstream)
  gateway = await testProxy({
    workers: 2,
    routes: [
      { name: 'old', prefix: '/unused', backend: { static: { host: '127.0.0.1', port } } },
      route('one', undefined, ['a']),
      route('two', undefined, ['a', 'b']),
      route('stateless', undefined, ['a']),
      route('odd', '/odd', ['a']),
    ],
  })
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

async function connect(path: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { word: 'yes' } }))
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path))
  clients.push(client)
  await client.connect(transport)
  return { client, transport }
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] } // a text tool
  return content[0]?.text ?? ''
}

describe('a server over SSE', () => {
  it('serves calls of one session from every worker over one event stream, until the session ends', async () => {
    const { client, transport } = await connect('/one')
    expect(transports.size).toBe(1)
    const words = Array.from({ length: 24 }, (_, index) => `w${index}`)
    expect(await Promise.all(words.map((word) => call(client, 'echo', { word })))).toEqual(words)
    expect(transports.size).toBe(1)
    await transport.terminateSession()
    await until('the stream is closed', () => transports.size === 0)
  })

  it('sends progress to the call, and requests of the server to the client', async () => {
    const { client, transport } = await connect('/one')
    const steps: number[] = []
    await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    })
    expect(steps).toEqual([1, 2])
    expect(await call(client, 'ask')).toBe('yes')
    await transport.terminateSession()
  })

  it('sends notifications to the client that listens', async () => {
    const { client, transport } = await connect('/one')
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
    const [id = ''] = transports.keys()
    await until('the notification arrives', async () => {
      await servers.get(id)?.server.sendToolListChanged()
      return changes > 0
    })
    expect(transports.size).toBe(1)
    await transport.terminateSession()
  })

  it('serves several targets, and clients without sessions', async () => {
    const two = await connect('/two')
    const { tools } = await two.client.listTools()
    expect(tools).toHaveLength(8)
    expect(await call(two.client, 'b_echo', { word: 'hi' })).toBe('hi')
    await two.transport.terminateSession()
    const { client } = await connect('/stateless')
    expect(await call(client, 'echo', { word: 'hi' })).toBe('hi')
    await until('no stream is left', () => transports.size === 0)
  })

  it('returns a result of 20 MiB', async () => {
    const { client, transport } = await connect('/one')
    expect(await call(client, 'large', { bytes: 20 * 1024 * 1024 })).toHaveLength(20 * 1024 * 1024)
    await transport.terminateSession()
  })
})

const endpointEvent = (response: ServerResponse, data = '/odd-messages?s=1'): void =>
  void response.write(`event: endpoint\ndata: ${data}\n\n`)
const say = (message: object): void =>
  void stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)

/** Responds to `initialize` and, in its own way, to calls. */
function oddServer(onCall: (id: number) => void): void {
  onStream = endpointEvent
  onMessage = ({ id, method }) => {
    const result = {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: 'o', version: '1' },
    }
    if (method === 'initialize') say({ id, result })
    else if (method === 'tools/call') onCall(id)
  }
}

describe('a server over SSE that breaks rules', () => {
  it.each(['http://127.0.0.1:1/messages', '//other.example/messages', 'https://127.0.0.1/messages'])(
    'gets no message at a foreign address (%s)',
    async (data) => {
      onStream = (response) => endpointEvent(response, data)
      let posted = 0
      onMessage = () => void posted++
      await expect(connect('/odd')).rejects.toThrow('could not be called')
      expect(posted).toBe(0)
      await until('its stream is closed', () => stream?.closed === true)
    },
  )

  it('fails the call if it closes the stream, and serves the next ones over a new stream', async () => {
    let calls = 0
    oddServer((id) => {
      if (++calls === 1) stream?.end()
      else say({ id, result: { content: [{ type: 'text', text: 'again' }] } })
    })
    const { client } = await connect('/odd')
    await expect(call(client, 'x')).rejects.toThrow('could not be called')
    expect(await call(client, 'x')).toBe('again')
  })

  it('cannot answer other requests than those of the client', async () => {
    oddServer((id) => {
      say({ id: id + 1000, result: { content: [{ type: 'text', text: 'forged' }] } })
      say({ id, result: { content: [{ type: 'text', text: 'real' }] } })
    })
    const { client, transport } = await connect('/odd')
    expect(await call(client, 'x')).toBe('real')
    await transport.terminateSession()
  })

  it('fails with text that is not JSON-RPC', async () => {
    oddServer(() => void stream?.write('data: hello\n\n'))
    const { client } = await connect('/odd')
    await expect(call(client, 'x')).rejects.toThrow('could not be called')
  })

  it('ends the stream of a session whose client leaves before it is open', async () => {
    let asked = 0
    onStream = endpointEvent
    onMessage = () => void asked++
    const client = new AbortController()
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const request = fetch(`${gateway.url}/odd`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      signal: client.signal,
    }).catch(() => undefined)
    await until('the server is asked', () => asked === 1)
    client.abort()
    expect(await request).toBeUndefined()
    await until('its stream is closed', () => stream?.closed === true)
  })
})
