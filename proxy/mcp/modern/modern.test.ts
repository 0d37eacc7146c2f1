// MCP 2026-07-28 through the gateway: official clients against servers of both eras.
import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import {
  legacyUpstream,
  mcpRoute,
  modernUpstream,
  type ModernUpstream,
  type Upstream,
  upstreamRoute,
} from '../servers.testing.ts'

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const HEADERS = { ...ACCEPT, 'mcp-protocol-version': '2026-07-28' }

let servers: Upstream[]
let first: ModernUpstream
let gateway: TestProxy

beforeAll(async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const modern = await Promise.all(names.map((name) => modernUpstream(name)))
  const legacy = await legacyUpstream('old')
  const dual = await modernUpstream('dual', 'stateless')
  const error = { code: -32_022, message: 'no', data: { supported: ['2027-01-01'] } }
  const rejecting = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
  })
  const later = { name: 'later', server: rejecting, port: await listening(rejecting), seen: [], headers: { last: {} } }
  const [a] = modern
  if (a === undefined) throw new Error('no server')
  first = a
  servers = [...modern, legacy, dual, later]
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...servers.map(upstreamRoute),
      mcpRoute('one', modern.slice(0, 1)),
      mcpRoute('two', modern.slice(0, 2)),
      mcpRoute('eight', modern),
      mcpRoute('old', [legacy]),
      mcpRoute('mixed', [...modern.slice(0, 1), legacy]),
      mcpRoute('dual', [dual]),
      mcpRoute('never', modern.slice(0, 2), { prefixMode: 'Never' }),
      mcpRoute('later', [...modern.slice(0, 1), later], { failureMode: 'FailOpen' }),
      mcpRoute('none', []),
      mcpRoute('stateless', [...modern.slice(0, 1), legacy], { sessionRouting: 'Stateless' }),
      mcpRoute('ruled', modern.slice(0, 2), {
        inlinePolicies: {
          mcpAuthorization: {
            action: 'Deny',
            matchExpressions: ['mcp.tool.name == "whoami" && mcp.tool.target == "a"'],
          },
        },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
})

async function withClient<T>(route: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(
    { name: 't', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { word: 'yes' } }))
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`)))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

function rpc(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } })
}

async function post(route: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/${route}`, { method: 'POST', body, headers: { ...HEADERS, ...headers } })
}

describe.each([
  ['one', 1],
  ['two', 2],
  ['eight', 8],
])('the official client of 2026-07-28 on %s', (route, count) => {
  const prefix = count === 1 ? '' : 'a_'
  const uriPrefix = count === 1 ? '' : 'a+'

  it('discovers the servers as one', async () => {
    await withClient(route, async (client) => {
      expect(client.getServerVersion()?.name).toBe(count === 1 ? 'a' : 'gw')
      expect(client.getInstructions()).toContain('use a well')
      expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: { subscribe: true } })
    })
  })

  it('lists all items', async () => {
    await withClient(route, async (client) => {
      const { tools } = await client.listTools()
      expect(tools).toHaveLength(5 * count)
      expect(tools.map(({ name }) => name)).toContain(`${prefix}whoami`)
      expect((await client.listPrompts()).prompts).toHaveLength(count)
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(`${uriPrefix}doc://a/readme`)
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(count)
    })
  })

  it('calls, reads and gets items of a server', async () => {
    await withClient(route, async (client) => {
      expect(textOf(await client.callTool({ name: `${prefix}add-a`, arguments: { n: 3 } }))).toBe('a:3')
      const { contents } = await client.readResource({ uri: `${uriPrefix}doc://a/readme` })
      expect(contents[0]).toMatchObject({ uri: `${uriPrefix}doc://a/readme`, text: 'from a' })
      expect((await client.getPrompt({ name: `${prefix}hello` })).messages).toHaveLength(1)
      await expect(client.callTool({ name: `${prefix}missing` })).rejects.toThrow('missing')
    })
  })

  it('gets progress on the stream of its request', async () => {
    await withClient(route, async (client) => {
      const seen: number[] = []
      const result = await client.callTool(
        { name: `${prefix}slow` },
        { onprogress: ({ progress }) => void seen.push(progress) },
      )
      expect(textOf(result)).toBe('done')
      expect(seen).toEqual([1])
    })
  })

  it('gives the input that a result requires', async () => {
    await withClient(route, async (client) => {
      const answer = textOf(await client.callTool({ name: `${prefix}ask` }))
      expect(JSON.parse(String(answer))).toMatchObject({ action: 'accept', content: { word: 'yes' } })
    })
  })
})

describe('headers of parameters', () => {
  const CALLED = { 'mcp-method': 'tools/call', 'mcp-name': 'a_regional', authorization: 'Bearer of this test' }
  const call = (args: object): string => rpc('tools/call', { name: 'a_regional', arguments: args })

  it('that match the arguments reach the server', async () => {
    const response = await post('two', call({ region: 'näher' }), {
      ...CALLED,
      'mcp-param-region': '=?base64?bsOkaGVy?=',
    })
    expect(await response.text()).toContain('"text":"näher"')
  })

  it.each([
    ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['a value that is not an argument', {}, { 'mcp-param-region': 'us' }],
    ['no value, when the schema is known', { region: 'eu' }, {}],
  ])('with %s are rejected', async (_, args, headers) => {
    const response = await post('two', call(args), { ...CALLED, ...headers })
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_020 } })
    expect(response.status).toBe(400)
  })
})

describe('several servers of 2026-07-28', () => {
  it('look up the owner of a name that was not listed', async () => {
    const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'add-b', authorization: 'Bearer of this test' }
    const response = await post('never', rpc('tools/call', { name: 'add-b', arguments: { n: 4 } }), headers)
    expect(await response.text()).toContain('"text":"b:4"')
  })

  it('find the owner of a name by the lists without prefixes', async () => {
    await withClient('never', async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['add-a', 'add-b'])
      servers[0]?.seen.splice(0)
      expect(textOf(await client.callTool({ name: 'add-b', arguments: { n: 1 } }))).toBe('b:1')
      expect(servers[0]?.seen).toEqual([])
      await expect(client.callTool({ name: 'whoami' })).rejects.toThrow('served by multiple targets')
    })
  })

  it('hide what rules deny', async () => {
    await withClient('ruled', async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('a_whoami')
      await expect(client.callTool({ name: 'a_whoami' })).rejects.toThrow('Unknown tool: a_whoami')
    })
  })

  it('never cache lists for other clients', async () => {
    const response = await post('two', rpc('tools/list'), { 'mcp-method': 'tools/list' })
    expect(await response.text()).toContain('"ttlMs":0,"cacheScope":"private"')
  })

  it('do not get the state of another server', async () => {
    const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'b_ask' }
    const response = await post('two', rpc('tools/call', { name: 'b_ask', requestState: 'a+state of a' }), headers)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: -32_602 } })
  })

  it('list the same versions in server/discover and in the error about an unknown version', async () => {
    const discovered = await post('two', rpc('server/discover'), { 'mcp-method': 'server/discover' })
    const unknown = await post('two', rpc('server/discover'), { 'mcp-protocol-version': '2099-01-01' })
    const { result } = (await discovered.json()) as { result: { supportedVersions: string[] } } // of server/discover
    expect(result.supportedVersions).toEqual(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
    expect(await unknown.json()).toMatchObject({
      error: { code: -32_022, data: { supported: result.supportedVersions, requested: '2099-01-01' } },
    })
  })

  it('reject the version as one if a server does, under FailOpen too', async () => {
    const response = await post('later', rpc('server/discover'), { 'mcp-method': 'server/discover' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: -32_022, data: { supported: ['2027-01-01'] } } })
  })

  it('without any server answer 503', async () => {
    const response = await post('none', rpc('tools/list'), { 'mcp-method': 'tools/list' })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_603 } })
  })
})

describe('a server of a former version', () => {
  it('serves clients of 2026-07-28 in sessions of one request', async () => {
    const old = servers.find(({ name }) => name === 'old')
    await withClient('old', async (client) => {
      expect(client.getServerVersion()?.name).toBe('old')
      expect((await client.listTools()).tools).toHaveLength(5)
      await until('the session has ended', () => old?.seen.at(-1) === 'DELETE')
      old?.seen.splice(0)
      expect(textOf(await client.callTool({ name: 'add-old', arguments: { n: 2 } }))).toBe('old:2')
      await until('the session has ended', () => old?.seen.at(-1) === 'DELETE')
      expect(old?.seen).toEqual(['initialize', 'notifications/initialized', 'tools/call add-old', 'DELETE'])
      expect(old?.headers.last).toMatchObject({ 'mcp-protocol-version': '2025-11-25' })
      expect(old?.headers.last).not.toHaveProperty('mcp-method')
    })
  })

  it('is one of several', async () => {
    await withClient('mixed', async (client) => {
      const names = (await client.listTools()).tools.map(({ name }) => name)
      expect(names).toContain('a_whoami')
      expect(names).toContain('old_whoami')
      expect(textOf(await client.callTool({ name: 'old_whoami' }))).toBe('old')
    })
  })

  it('is not asked about a call of another server', async () => {
    const old = servers.find(({ name }) => name === 'old')
    await withClient('mixed', async (client) => {
      await until('the last session has ended', () => old?.seen.at(-1) === 'DELETE')
      old?.seen.splice(0)
      expect(textOf(await client.callTool({ name: 'a_whoami' }))).toBe('a')
      expect(old?.seen).toEqual([])
    })
  })

  it('gets an error for a request to the client', async () => {
    await withClient('old', async (client) => {
      const result = await client.callTool({ name: 'ask' })
      expect(result.isError).toBe(true)
    })
  })
})

describe('clients of former versions', () => {
  it.each([
    ['one', ''],
    ['two', 'a_'],
    ['mixed', 'a_'],
  ])('have sessions with servers of 2026-07-28 on %s', async (route, prefix) => {
    const client = new LegacyClient({ name: 't', version: '1' })
    const events: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void events.push('tools'))
    await client.connect(new LegacyTransport(new URL(`${gateway.url}/${route}`)))
    expect(client.getInstructions()).toContain('use a well')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(`${prefix}whoami`)
    expect(textOf(await client.callTool({ name: `${prefix}whoami` }))).toBe('a')
    expect((await client.getPrompt({ name: `${prefix}hello` })).messages).toHaveLength(1)
    await client.ping()
    await until('the gateway listens', () => servers[0]?.seen.includes('subscriptions/listen') === true)
    await until('a change arrives', () => {
      first.handler.notify.toolsChanged()
      return events.length > 0
    })
    const uri = route === 'one' ? 'doc://a/readme' : 'a+doc://a/readme'
    await expect(client.subscribeResource({ uri })).rejects.toThrow('Method not found')
    await client.close()
    servers[0]?.seen.splice(0)
  })

  it('without sessions reach servers of both eras', async () => {
    const client = new LegacyClient({ name: 't', version: '1' })
    const transport = new LegacyTransport(new URL(`${gateway.url}/dual`))
    await client.connect(transport)
    expect(textOf(await client.callTool({ name: 'whoami' }))).toBe('dual')
    await client.close()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a_whoami' } })
    const response = await fetch(`${gateway.url}/stateless`, { method: 'POST', body, headers: ACCEPT })
    expect(await response.text()).toContain('"text":"a"')
  })
})

describe('checks of requests', () => {
  const CALL = rpc('tools/call', { name: 'whoami' })
  const CALLED = { 'mcp-method': 'tools/call', 'mcp-name': 'whoami' }

  it.each([
    ['a version that the body does not have', CALL, { ...CALLED, 'mcp-protocol-version': '2025-11-25' }, -32_020],
    ['an unknown version', CALL, { ...CALLED, 'mcp-protocol-version': '2099-01-01' }, -32_022],
    ['a session', CALL, { ...CALLED, 'mcp-session-id': 'x' }, -32_600],
    ['no method', CALL, { 'mcp-name': 'whoami' }, -32_020],
    ['another method', CALL, { ...CALLED, 'mcp-method': 'tools/list' }, -32_020],
    ['no name', CALL, { 'mcp-method': 'tools/call' }, -32_020],
    ['another name', CALL, { ...CALLED, 'mcp-name': 'other' }, -32_020],
    ['invalid base64', CALL, { ...CALLED, 'mcp-name': '=?base64?d2hvYW1p*?=' }, -32_020],
    ['no envelope', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { 'mcp-method': 'tools/list' }, -32_602],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}', {}, -32_600],
  ])('reject %s', async (_, body, headers, code) => {
    const response = await post('one', body, headers)
    expect(await response.json()).toMatchObject({ error: { code } })
    expect(response.status).toBe(400)
  })

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])(
    'do not find the removed method %s',
    async (method) => {
      const response = await post('one', rpc(method, { uri: 'x' }), { 'mcp-method': method })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_601 } })
    },
  )

  it('take names as base64, and write them for the server', async () => {
    const name = `=?base64?${Buffer.from('a_whoami').toString('base64')}?=`
    const response = await post('two', rpc('tools/call', { name: 'a_whoami' }), { ...CALLED, 'mcp-name': name })
    expect(await response.text()).toContain('"text":"a"')
    expect(servers[0]?.headers.last).toMatchObject({ 'mcp-name': 'whoami', 'mcp-protocol-version': '2026-07-28' })
  })
})
