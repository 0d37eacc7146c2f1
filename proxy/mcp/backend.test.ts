import { randomBytes } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'

interface Upstream {
  readonly server: Server
  readonly port: number
  readonly sessions: Map<string, StreamableHTTPServerTransport>
  /** The client of the newest session listens: requests of the server outside of calls are not lost. */
  readonly isHeard: () => boolean
}

async function startUpstream(name: string, isStateful = true): Promise<Upstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, ServerResponse>()
  let created = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') streams.set(String(request.headers['mcp-session-id']), response)
    seenKeys.add(String(request.headers['x-target-key']))
    const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    const serve = async (): Promise<void> => {
      if (known !== undefined) return known.handleRequest(request, response)
      if (request.headers['mcp-session-id'] !== undefined) return void response.writeHead(404).end()
      const transport = new StreamableHTTPServerTransport({
        ...(isStateful && { sessionIdGenerator: () => `${name}-${++created}` }),
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id),
      })
      await tools(name).connect(transport)
      return transport.handleRequest(request, response)
    }
    serve().catch(() => response.destroy())
  })
  const isHeard = (): boolean => streams.get(`${name}-${created}`)?.headersSent === true
  return { server, port: await listening(server), sessions, isHeard }
}

function tools(name: string): McpServer {
  const server = new McpServer({ name, version: '1' }, { instructions: `use ${name} well` })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool('whoami', { description: 'name' }, () => text(name))
  server.registerTool(`only-${name}`, { inputSchema: { n: z.number() } }, ({ n }) => text(`${name}:${n}`))
  server.registerTool('ask', { description: 'asks the client' }, async () => {
    const answer = await server.server.elicitInput({
      message: `${name} asks`,
      requestedSchema: { type: 'object', properties: { word: { type: 'string' } } },
    })
    return text(JSON.stringify(answer.content))
  })
  server.registerResource('doc', `doc://${name}/readme`, {}, (uri) => ({
    contents: [{ uri: uri.href, text: `from ${name}` }],
  }))
  server.registerPrompt('hello', { description: 'd' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: `hello from ${name}` } }],
  }))
  return server
}

/** Credentials that reached any server. */
const seenKeys = new Set<string>()
let upstreams: Upstream[]
let gateway: TestProxy

const mcp = (targets: readonly (readonly [string, number])[], settings: Partial<MCPBackend> = {}) => ({
  targets: targets.map(([name, port]) => ({ name, ref: { backend: `ns/up-${port}` } })),
  sessionRouting: 'Stateful' as const,
  prefixMode: 'Conditional' as const,
  failureMode: 'FailClosed' as const,
  ...settings,
})

beforeAll(async () => {
  const a = await startUpstream('a')
  const b = await startUpstream('b')
  const stateless = await startUpstream('s', false)
  const dead = await freePort()
  upstreams = [a, b, stateless]
  const plain: TestRoute[] = [a.port, b.port, stateless.port, dead].map((port) => ({
    name: `up-${port}`,
    prefix: `/unused-${port}`,
    backend: { static: { host: '127.0.0.1', port } },
  }))
  const both = [
    ['a', a.port],
    ['b', b.port],
  ] as const
  const half = [
    ['a', a.port],
    ['dead', dead],
  ] as const
  const route = (
    name: string,
    backend: MCPBackend,
    inline: TestRoute['backend']['inlinePolicies'] = {},
  ): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: { mcp: backend, inlinePolicies: { tcp: { connectTimeoutMs: 1000 }, ...inline } },
  })
  gateway = await testProxy({
    sessionKey: randomBytes(32),
    secrets: { 'ns/s/k': 'target-secret' },
    workers: 2,
    routes: [
      ...plain,
      route('one', mcp([['a', a.port]])),
      route('other', mcp([['a', a.port]])),
      route('two', mcp(both)),
      route('never', mcp(both, { prefixMode: 'Never' })),
      route('always', mcp([['a', a.port]], { prefixMode: 'Always' })),
      route('closed', mcp(half)),
      route('open', mcp(half, { failureMode: 'FailOpen' })),
      route('stateless', mcp(both, { sessionRouting: 'Stateless' })),
      {
        name: 'keyed-target',
        prefix: '/unused-keyed',
        backend: {
          static: { host: '127.0.0.1', port: a.port },
          inlinePolicies: { auth: { key: { secret: 'ns/s/k' }, location: { header: { name: 'x-target-key' } } } },
        },
      },
      {
        name: 'denied-target',
        prefix: '/unused-denied',
        backend: {
          static: { host: '127.0.0.1', port: a.port },
          inlinePolicies: { deny: { field: 'f', message: 'm' } },
        },
      },
      route('keyed', { ...mcp([]), targets: [{ name: 'a', ref: { backend: 'ns/keyed-target' } }] }),
      route('denied', { ...mcp([]), targets: [{ name: 'a', ref: { backend: 'ns/denied-target' } }] }),
      route('ruled', mcp(both), {
        mcpAuthorization: { action: 'Deny', matchExpressions: ['mcp.tool.name == "whoami" && mcp.tool.target == "a"'] },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of upstreams) closeServer(server)
})

async function withClient<T>(path: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { word: 'yes' } }))
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path))
  await client.connect(transport)
  try {
    return await work(client)
  } finally {
    await transport.terminateSession()
    await client.close()
  }
}

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const rpc = (method: string, params: object = {}, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const INIT = rpc('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
})

async function post(path: string, body: string, headers: Record<string, string> = ACCEPT): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', body, headers })
}

async function newSession(path: string): Promise<string> {
  const response = await post(path, INIT)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

describe('one server', () => {
  it('shows unchanged names and serves tools, prompts and resources', async () => {
    await withClient('/one', async (client) => {
      expect(client.getServerVersion()?.name).toBe('a')
      expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['ask', 'only-a', 'whoami'])
      expect(textOf(await client.callTool({ name: 'only-a', arguments: { n: 3 } }))).toBe('a:3')
      expect((await client.readResource({ uri: 'doc://a/readme' })).contents[0]).toMatchObject({ text: 'from a' })
      expect((await client.getPrompt({ name: 'hello' })).messages).toHaveLength(1)
      await client.ping()
    })
  })

  it('forwards requests of the server to the client and the response back', async () => {
    await withClient('/one', async (client) => {
      await until('the server is heard', () => upstreams[0]?.isHeard() === true)
      expect(textOf(await client.callTool({ name: 'ask' }))).toBe('{"word":"yes"}')
    })
  })

  it('ends the session at the server on DELETE', async () => {
    const before = upstreams[0]?.sessions.size
    await withClient('/one', async (client) => {
      expect(upstreams[0]?.sessions.size).toBe((before ?? 0) + 1)
      await client.ping()
    })
    expect(upstreams[0]?.sessions.size).toBe(before)
  })

  it('prefixes names under Always', async () => {
    await withClient('/always', async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('a_whoami')
      expect(textOf(await client.callTool({ name: 'a_whoami' }))).toBe('a')
    })
  })
})

describe('policies of the backend a target refers to', () => {
  it('apply to calls of the target', async () => {
    await withClient('/keyed', (client) => client.ping())
    expect(seenKeys).toContain('target-secret')
  })

  it('reject calls of the target if one of them cannot be enforced', async () => {
    await expect(withClient('/denied', (client) => client.ping())).rejects.toThrow('could not be called')
  })
})

describe('several servers', () => {
  it('joins capabilities, instructions and lists, and routes calls by prefix', async () => {
    await withClient('/two', async (client) => {
      expect(client.getServerVersion()?.name).toBe('gw')
      expect(client.getInstructions()).toContain('[b]\nuse b well')
      expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {} })
      const names = (await client.listTools()).tools.map(({ name }) => name).sort()
      expect(names).toEqual(['a_ask', 'a_only-a', 'a_whoami', 'b_ask', 'b_only-b', 'b_whoami'])
      expect(textOf(await client.callTool({ name: 'b_whoami' }))).toBe('b')
      expect((await client.listResources()).resources.map(({ uri }) => uri).sort()).toEqual([
        'a+doc://a/readme',
        'b+doc://b/readme',
      ])
      const read = await client.readResource({ uri: 'b+doc://b/readme' })
      expect(read.contents[0]).toMatchObject({ uri: 'b+doc://b/readme', text: 'from b' })
      expect((await client.getPrompt({ name: 'a_hello' })).messages).toHaveLength(1)
    })
  })

  it('forwards responses to the server that sent the request', async () => {
    await withClient('/two', async (client) => {
      await until('the server is heard', () => upstreams[1]?.isHeard() === true)
      expect(textOf(await client.callTool({ name: 'b_ask' }))).toBe('{"word":"yes"}')
    })
  })

  it('finds the owner by the lists with Never, and rejects ambiguous names', async () => {
    await withClient('/never', async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['only-a', 'only-b'])
      expect(textOf(await client.callTool({ name: 'only-b', arguments: { n: 1 } }))).toBe('b:1')
      await expect(client.callTool({ name: 'whoami' })).rejects.toThrow('served by multiple targets')
    })
  })

  it('fails the session if one server is dead, or continues without it', async () => {
    await expect(withClient('/closed', (client) => client.ping())).rejects.toThrow('could not be called')
    await withClient('/open', async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['a_ask', 'a_only-a', 'a_whoami'])
    })
  })

  it('hides what rules deny from lists and calls', async () => {
    await withClient('/ruled', async (client) => {
      const names = (await client.listTools()).tools.map(({ name }) => name)
      expect(names).not.toContain('a_whoami')
      expect(names).toContain('b_whoami')
      await expect(client.callTool({ name: 'a_whoami' })).rejects.toThrow('Unknown tool: a_whoami')
      expect(textOf(await client.callTool({ name: 'b_whoami' }))).toBe('b')
    })
  })

  it('serves clients without sessions', async () => {
    const response = await post('/stateless', rpc('tools/call', { name: 'b_only-b', arguments: { n: 7 } }))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('b:7')
    const init = await post('/stateless', INIT)
    await init.text()
    expect(init.headers.get('mcp-session-id')).toBeNull()
  })
})

describe('transport checks', () => {
  it.each([
    [406, '{}', { 'content-type': 'application/json' }],
    [415, '{}', { accept: ACCEPT.accept, 'content-type': 'text/plain' }],
    [400, '{', ACCEPT],
    [400, '[]', ACCEPT],
    [400, '{"jsonrpc":"1.0","id":1,"method":"ping"}', ACCEPT],
    [400, rpc('ping'), ACCEPT],
    [400, rpc('ping'), { ...ACCEPT, 'mcp-session-id': 'forged' }],
    [400, INIT, { ...ACCEPT, 'mcp-protocol-version': '1999-01-01' }],
  ])('answers %d to %s', async (status, body, headers) => {
    const response = await post('/one', body, headers)
    await response.text()
    expect(response.status).toBe(status)
  })

  it('does not accept a session of another route', async () => {
    const id = await newSession('/one')
    const own = await post('/one', rpc('ping'), { ...ACCEPT, 'mcp-session-id': id })
    expect(own.status).toBe(200)
    await own.text()
    const other = await post('/other', rpc('ping'), { ...ACCEPT, 'mcp-session-id': id })
    expect(other.status).toBe(404)
    expect(await other.text()).toBe('session not found')
  })

  it('opens the session again at a server that has dropped it', async () => {
    const id = await newSession('/one')
    upstreams[0]?.sessions.clear()
    const response = await post('/one', rpc('ping'), { ...ACCEPT, 'mcp-session-id': id })
    await response.text()
    expect(response.status).toBe(200)
  })

  it('accepts notifications with 202 and rejects other methods', async () => {
    const id = await newSession('/one')
    const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect((await post('/one', note, { ...ACCEPT, 'mcp-session-id': id })).status).toBe(202)
    expect((await fetch(`${gateway.url}/one`, { method: 'PUT' })).status).toBe(405)
    expect((await fetch(`${gateway.url}/one`, { headers: { accept: 'text/html' } })).status).toBe(406)
    expect((await fetch(`${gateway.url}/one`, { headers: { accept: 'text/event-stream' } })).status).toBe(400)
    expect((await fetch(`${gateway.url}/stateless`, { method: 'DELETE' })).status).toBe(405)
  })

  it('rejects JSON that is nested too deeply', async () => {
    const id = await newSession('/one')
    const deep = rpc('tools/call', { x: 0 }).replace('0}', `${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
    expect((await post('/one', deep, { ...ACCEPT, 'mcp-session-id': id })).status).toBe(400)
    expect((await post('/one', '['.repeat(2_000_000), { ...ACCEPT, 'mcp-session-id': id })).status).toBe(400)
  })

  it('returns JSON-RPC errors for unknown methods and missing parameters', async () => {
    const id = await newSession('/two')
    const headers = { ...ACCEPT, 'mcp-session-id': id }
    const unknown = await post('/two', rpc('no/such'), headers)
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ id: 1, error: { code: -32_601 } })
    const missing = await post('/two', rpc('tools/call'), headers)
    expect(missing.status).toBe(400)
    expect(await missing.json()).toMatchObject({ error: { code: -32_602 } })
  })
})
