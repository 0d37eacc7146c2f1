// Servers that restart, die and return while clients have sessions.
// @module-tag full
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'

/** A server whose sessions can be lost. */
class Restartable {
  readonly sessions = new Map<string, StreamableHTTPServerTransport>()
  readonly server: Server
  initialized = 0
  calls = 0
  created = 0
  forgetsAll = false

  readonly name: string

  constructor(name: string) {
    this.name = name
    this.server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  /** As after a crash: no session is known, and all connections are broken. */
  restart(): void {
    this.sessions.clear()
    this.server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id']
    const known = this.sessions.get(String(id))
    if (known !== undefined && !this.forgetsAll) return known.handleRequest(request, response)
    if (id !== undefined) return void response.writeHead(404).end('unknown session')
    this.initialized++
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `${this.name}-${++this.created}`,
      onsessioninitialized: (created) => void this.sessions.set(created, transport),
      onsessionclosed: (closed) => void this.sessions.delete(closed),
    })
    const server = new McpServer({ name: this.name, version: '1' })
    server.registerTool('session', {}, () => {
      this.calls++
      return { content: [{ type: 'text', text: transport.sessionId ?? '' }] }
    })
    server.registerTool('crash', {}, () => {
      this.calls++
      this.restart()
      return { content: [] }
    })
    await server.connect(transport)
    return transport.handleRequest(request, response)
  }
}

const a = new Restartable('a')
const late = new Restartable('late')
let gateway: TestProxy
let latePort: number
const clients: Client[] = []

beforeAll(async () => {
  const port = await listening(a.server)
  latePort = await freePort()
  const mcp = (...names: string[]): MCPBackend => ({
    targets: names.map((name) => ({ name, ref: { backend: `ns/${name}` } })),
    sessionRouting: 'Stateful',
    prefixMode: 'Conditional',
    failureMode: names.length > 1 ? 'FailOpen' : 'FailClosed',
  })
  gateway = await testProxy({
    workers: 2,
    routes: [
      { name: 'a', prefix: '/unused-a', backend: { static: { host: '127.0.0.1', port } } },
      { name: 'late', prefix: '/unused-l', backend: { static: { host: '127.0.0.1', port: latePort } } },
      { name: 'one', prefix: '/one', backend: { mcp: mcp('a') } },
      { name: 'two', prefix: '/two', backend: { mcp: mcp('a', 'late') } },
    ],
  })
})

afterEach(async () => {
  a.forgetsAll = false
  a.sessions.clear()
  for (const client of clients.splice(0)) await client.close()
})

afterAll(async () => {
  await gateway.stop()
  closeServer(a.server)
  closeServer(late.server)
})

interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  readonly changes: () => number
}

async function connect(path: string): Promise<Connected> {
  const client = new Client({ name: 't', version: '1' })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path))
  clients.push(client)
  await client.connect(transport)
  return { client, transport, changes: () => changes }
}

async function sessionAt(client: Client, name: string): Promise<string> {
  const { content } = (await client.callTool({ name, arguments: {} })) as { content: { text: string }[] } // a text tool
  return content[0]?.text ?? ''
}

describe('a server that restarts', () => {
  it('serves the session of the client again, in one session for all workers, and its lists have changed', async () => {
    const { client, transport, changes } = await connect('/one')
    const before = await sessionAt(client, 'session')
    a.restart()
    const after = await sessionAt(client, 'session')
    expect(after).not.toBe(before)
    await until('the client learns of it', () => changes() > 0)
    let used: ReadonlySet<string> = new Set()
    await until('all workers use one session', async () => {
      used = new Set(await Promise.all(Array.from({ length: 12 }, () => sessionAt(client, 'session'))))
      return used.size === 1
    })
    await transport.terminateSession()
    await until('the session at the server is ended', () => ![...used].some((id) => a.sessions.has(id)))
  })

  it('fails the calls in progress, which are not repeated', async () => {
    const { client, transport } = await connect('/one')
    const { calls } = a
    await expect(client.callTool({ name: 'crash', arguments: {} })).rejects.toThrow('could not be called')
    expect(a.calls).toBe(calls + 1)
    expect(await sessionAt(client, 'session')).toMatch(/^a-/)
    await transport.terminateSession()
  })

  it('is not asked for a session that the client has ended', async () => {
    const { client, transport } = await connect('/one')
    const id = transport.sessionId ?? ''
    await transport.terminateSession()
    await client.close()
    const { initialized } = a
    const headers = {
      'mcp-session-id': id,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const response = await fetch(`${gateway.url}/one`, { method: 'POST', headers, body })
    expect([response.status, await response.text()]).toEqual([404, 'session not found'])
    expect(a.initialized).toBe(initialized)
  })

  it('returns 404 if it forgets each session at once', async () => {
    const { client } = await connect('/one')
    a.forgetsAll = true
    const { initialized } = a
    await expect(client.callTool({ name: 'session', arguments: {} })).rejects.toMatchObject({ code: 404 })
    expect(a.initialized).toBeLessThan(initialized + 4)
  })
})

describe('a server that is down at the start of a session (FailOpen)', () => {
  it('joins the session when it is up', async () => {
    const { client, transport, changes } = await connect('/two')
    const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name)
    expect(await names()).toEqual(['a_session', 'a_crash'])
    late.server.listen(latePort, '127.0.0.1')
    await until('the client learns of it', () => changes() > 0)
    expect(await names()).toEqual(['a_session', 'a_crash', 'late_session', 'late_crash'])
    expect(await sessionAt(client, 'late_session')).toMatch(/^late-/)
    const own = await sessionAt(client, 'a_session')
    await transport.terminateSession()
    await until('the session is ended', () => !a.sessions.has(own))
    expect(late.initialized).toBeGreaterThan(0)
  })
})
