// Servers that are added to a backend and removed from it while clients have sessions, as by a selector of Services.
// @module-tag full
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { configFor, testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, modernUpstream, upstreamRoute } from '../servers.testing.ts'

let a: LegacyUpstream
let b: LegacyUpstream
let modern: Awaited<ReturnType<typeof modernUpstream>>
let gateway: TestProxy
const clients: { close(): Promise<void> }[] = []

beforeAll(async () => {
  a = await legacyUpstream('a')
  b = await legacyUpstream('b')
  modern = await modernUpstream('modern')
  gateway = await testProxy({ workers: 2, routes: routes('a', 'b') })
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of [a, b, modern]) closeServer(server)
})

function routes(...names: readonly string[]) {
  const all = [a, b, modern]
  const own = all.filter(({ name }) => names.includes(name))
  return [...all.map(upstreamRoute), mcpRoute('mcp', own, { prefixMode: 'Always' })]
}

/** As the controller does after a Service was created or deleted. */
async function serve(...names: readonly string[]): Promise<void> {
  const config = configFor(gateway.port, { routes: routes(...names) })
  expect(await gateway.proxy.apply(config, { version: 1, secrets: [] })).not.toHaveProperty('problem')
}

interface Connected {
  readonly changes: () => number
  readonly servers: () => Promise<string[]>
  readonly call: (name: string) => Promise<string>
}

async function connect(transport: 'Streamable HTTP' | 'SSE'): Promise<Connected> {
  const client = new Client({ name: 't', version: '1' })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  clients.push(client)
  const url = `${gateway.url}/mcp`
  await client.connect(
    transport === 'SSE'
      ? new SSEClientTransport(new URL(`${url}/sse`))
      : new StreamableHTTPClientTransport(new URL(url), {
          reconnectionOptions: {
            initialReconnectionDelay: 10,
            maxReconnectionDelay: 100,
            reconnectionDelayGrowFactor: 2,
            maxRetries: 5,
          },
        }),
  )
  return {
    changes: () => changes,
    servers: async () => {
      const { tools } = await client.listTools()
      return [...new Set(tools.map(({ name }) => name.split('_')[0] ?? ''))]
    },
    call: async (name) => JSON.stringify((await client.callTool({ name, arguments: {} })).content),
  }
}

describe.each(['Streamable HTTP', 'SSE'] as const)('a session over %s', (transport) => {
  it('continues when a server is added and when one is removed', async () => {
    await serve('a', 'b')
    const { servers, changes, call } = await connect(transport)
    expect(await servers()).toEqual(['a', 'b'])
    await until('the client listens', () => a.seen.includes('GET'))
    const { length: opened } = a.seen.filter((one) => one === 'initialize')
    await serve('a', 'b', 'modern')
    await until('the client is notified of the added server', () => changes() > 0)
    expect(await servers()).toEqual(['a', 'b', 'modern'])
    expect(await call('modern_whoami')).toContain('modern')
    const known = changes()
    await serve('a', 'modern')
    await until('the client is notified of the removed server', () => changes() > known)
    expect(await servers()).toEqual(['a', 'modern'])
    await expect(call('b_whoami')).rejects.toThrow('Unknown tool')
    // The session at the other server is the same.
    expect(await call('a_whoami')).toContain('a')
    expect(a.seen.filter((one) => one === 'initialize')).toHaveLength(opened)
  })

  it('joins a server of former versions that is added', async () => {
    await serve('a')
    const { servers, changes, call } = await connect(transport)
    await serve('a', 'b')
    await until('the client is notified', () => changes() > 0)
    expect(await servers()).toEqual(['a', 'b'])
    expect(await call('b_whoami')).toContain('b')
  })
})

it('a session continues without a server until one is there', async () => {
  await serve('b')
  const { call, servers } = await connect('Streamable HTTP')
  await serve()
  await expect(servers()).rejects.toMatchObject({ code: 503 })
  await serve('a')
  expect(await call('a_whoami')).toContain('a')
})

it('a session whose id does not contain the client is over when its servers change', async () => {
  await serve('b')
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (message: object, session?: string): Promise<Response> =>
    fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    })
  const clientInfo = { name: 'x'.repeat(3000), version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const session = (await post({ method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
  expect((await post({ method: 'ping' }, session)).status).toBe(200)
  await serve('a', 'b')
  expect((await post({ method: 'ping' }, session)).status).toBe(404)
})

it('a subscription of MCP 2026-07-28 reports the change and ends, and the next one has all servers', async () => {
  await serve('modern')
  const client = new ModernClient({ name: 't', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  clients.push(client)
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
  await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp`)))
  const { closed } = await client.listen({ toolsListChanged: true })
  await serve('modern', 'a')
  expect(await closed).toBe('graceful')
  expect(changes).toBe(1)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('a_whoami')
  await client.listen({ toolsListChanged: true })
  await a.notify('notifications/tools/list_changed')
  await until('the added server is in the subscription', () => changes === 2)
})
