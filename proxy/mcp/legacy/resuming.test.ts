// Streams of servers with ids of events: clients continue after the last event that they have (SEP-1699).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { type JSONRPCMessage, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { mcpRoute, upstreamRoute } from '../servers.testing.ts'

const RETRY_MS = 50

/** In the order in which they were sent; the example of the SDK mixes those of one millisecond. */
class Events implements EventStore {
  readonly #sent: { readonly stream: string; readonly message: JSONRPCMessage }[] = []

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return Promise.resolve(String(this.#sent.push({ stream, message })))
  }

  async replayEventsAfter(last: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]): Promise<string> {
    const stream = this.#sent[Number(last) - 1]?.stream ?? ''
    for (const [index, event] of this.#sent.entries()) {
      if (index >= Number(last) && event.stream === stream) await send(String(index + 1), event.message)
    }
    return stream
  }
}

/** A server that keeps its events. Its tool closes the stream of its call, and has a result later. */
class Polled {
  readonly name: string
  readonly server: Server
  readonly transports = new Map<string, StreamableHTTPServerTransport>()
  /** `Last-Event-ID` of each GET. */
  readonly resumed: (string | undefined)[] = []
  polls = 0
  readonly #connected = new Set<McpServer>()

  constructor(name: string) {
    this.name = name
    this.server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  async log(data: string): Promise<void> {
    for (const { server } of this.#connected) await server.sendLoggingMessage({ level: 'info', data })
  }

  /** The streams of clients break. */
  breakStreams(): void {
    this.server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') this.resumed.push(request.headers['last-event-id'] as string | undefined)
    const known = this.transports.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(request, response)
    if (request.headers['mcp-session-id'] !== undefined) return void response.writeHead(404).end()
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `${this.name}-${this.transports.size}`,
      eventStore: new Events(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => void this.transports.set(id, transport),
    })
    const mcp = new McpServer({ name: this.name, version: '1' }, { capabilities: { logging: {} } })
    this.#connected.add(mcp)
    mcp.registerTool('poll', {}, async ({ closeSSEStream, sendNotification, signal }) => {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'before' } })
      const asked = this.resumed.length
      closeSSEStream?.()
      this.polls++
      await until('the stream is resumed', () => signal.aborted || this.resumed.length > asked)
      return { content: [{ type: 'text', text: `polled ${this.name}` }] }
    })
    await mcp.connect(transport)
    return transport.handleRequest(request, response)
  }
}

const a = new Polled('a')
const servers = [a, new Polled('b')]
let gateway: TestProxy

beforeAll(async () => {
  const upstreams = await Promise.all(
    servers.map(async ({ name, server }) => ({ name, port: await listening(server) })),
  )
  gateway = await testProxy({
    workers: 2,
    routes: [
      ...upstreams.map(upstreamRoute),
      mcpRoute('one', upstreams.slice(0, 1)),
      mcpRoute('two', upstreams),
      mcpRoute('stateless', upstreams, { sessionRouting: 'Stateless' }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
})

interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  readonly logged: unknown[]
  readonly requests: string[]
}

async function connected(route: string): Promise<Connected> {
  const client = new Client({ name: 't', version: '1' })
  const logged: unknown[] = []
  const requests: string[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data))
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`), {
    fetch: (url, init) => {
      const { method = 'GET', headers } = init ?? {}
      requests.push(new Headers(headers).has('last-event-id') ? `${method} resumed` : method)
      return fetch(url, init)
    },
  })
  await client.connect(transport)
  return { client, transport, logged, requests }
}

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

describe.each([
  ['one', 'poll'],
  ['two', 'b_poll'],
])('a server that closes the stream of a call, on /%s', (route, tool) => {
  it('has the result for the official client, which resumes the stream', async () => {
    const { client, logged, requests } = await connected(route)
    expect(textOf(await client.callTool({ name: tool }))).toBe(`polled ${route === 'one' ? 'a' : 'b'}`)
    expect(logged).toEqual(['before'])
    expect(requests.filter((request) => request === 'GET resumed')).toHaveLength(1)
    await client.close()
  })
})

describe('the stream of a client', () => {
  const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

  async function newSession(route: string): Promise<Record<string, string>> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const response = await fetch(`${gateway.url}/${route}`, { method: 'POST', headers: POSTED, body })
    await response.text()
    return { accept: 'text/event-stream', 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  }

  /** The messages until `count` have arrived, and the id of the last event. */
  async function listened(route: string, headers: Record<string, string>, count: number) {
    const left = new AbortController()
    const response = await fetch(`${gateway.url}/${route}`, { headers, signal: left.signal })
    const reader = response.body?.getReader()
    const logged: unknown[] = []
    let text = ''
    return {
      status: response.status,
      async all() {
        while (logged.length < count) {
          text += Buffer.from((await reader?.read())?.value ?? []).toString()
          logged.splice(0, logged.length, ...[...text.matchAll(/"data":"(.*?)"/g)].map(([, data]) => data))
        }
        left.abort()
        return { logged, last: [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '' }
      },
    }
  }

  it('continues after its last event at all servers', async () => {
    const headers = await newSession('two')
    const first = await listened('two', headers, 2)
    for (const server of servers) await server.log(`${server.name}1`)
    const { logged, last } = await first.all()
    expect(new Set(logged)).toEqual(new Set(['a1', 'b1']))
    // No stream has them.
    for (const server of servers) for (const n of [2, 3]) await server.log(`${server.name}${n}`)
    const second = await listened('two', { ...headers, 'last-event-id': last }, 4)
    expect(new Set((await second.all()).logged)).toEqual(new Set(['a2', 'a3', 'b2', 'b3']))
  })

  it('continues if the server loses its connection', async () => {
    const asked = a.resumed.length
    const { client, logged, requests } = await connected('one')
    await until('the gateway listens', () => a.resumed.length > asked)
    await a.log('1')
    await until('the first message arrives', () => logged.length === 1)
    a.breakStreams()
    await a.log('2')
    await a.log('3')
    await until('the others arrive', () => logged.length === 3)
    expect(logged).toEqual(['1', '2', '3'])
    // The client has not lost its stream.
    expect(requests).not.toContain('GET resumed')
    await client.close()
  })

  it('is rejected after an event of another session', async () => {
    const headers = await newSession('one')
    const stream = await listened('one', headers, 1)
    await a.log('1')
    const { last } = await stream.all()
    const other = { ...(await newSession('one')), 'last-event-id': last }
    expect((await listened('one', other, 1)).status).toBe(400)
  })
})

describe('a server that has lost a session with a call in it', () => {
  it('fails the call that the client resumes', async () => {
    const { client, transport } = await connected('one')
    const { polls } = a
    const call = client.callTool({ name: 'poll' })
    await until('the stream is closed', () => a.polls > polls)
    a.transports.clear()
    await expect(call).rejects.toThrow('could not be called')
    await transport.close()
  })
})

describe('a client that cannot resume', () => {
  it('gets the result on its only stream: over SSE', async () => {
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new SSEClientTransport(new URL(`${gateway.url}/two/sse`)))
    expect(textOf(await client.callTool({ name: 'b_poll' }))).toBe('polled b')
    await client.close()
  })

  it('gets the result on its only stream: without sessions', async () => {
    const { client, requests } = await connected('stateless')
    expect(textOf(await client.callTool({ name: 'b_poll' }))).toBe('polled b')
    expect(requests).not.toContain('GET resumed')
    await client.close()
  })
})
