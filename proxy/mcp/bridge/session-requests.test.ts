// Servers that send requests to clients without sessions (`sessionRouting: Stateless`), with the official SDK.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

let servers: LegacyUpstream[]
let gateway: TestProxy

beforeAll(async () => {
  servers = await Promise.all(['a', 'b'].map((name) => legacyUpstream(name)))
  const stateless = { sessionRouting: 'Stateless' as const }
  gateway = await testProxy({
    // A response arrives at another worker than the call.
    workers: 2,
    routes: [
      ...servers.map(upstreamRoute),
      mcpRoute('one', servers.slice(0, 1), stateless),
      mcpRoute('two', servers, stateless),
      mcpRoute('denied', servers, {
        ...stateless,
        inlinePolicies: {
          mcpAuthorization: { action: 'Deny', matchExpressions: ['mcp.methodName == "roots/list"'] },
        },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
})

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

async function connected(transport: StreamableHTTPClientTransport | SSEClientTransport): Promise<Client> {
  const client = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: {}, roots: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { word: 'yes' } }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///root' }] }))
  await client.connect(transport)
  return client
}

describe.each([
  ['one', ''],
  ['two', 'b_'],
])('a call without a session on /%s', (route, prefix) => {
  it.each([
    ['Streamable HTTP', () => new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`))],
    ['SSE', () => new SSEClientTransport(new URL(`${gateway.url}/${route}/sse`))],
  ])('gets the roots of the client over %s', async (_, transport) => {
    const client = await connected(transport())
    const calls = Array.from({ length: 4 }, () => client.callTool({ name: `${prefix}roots` }))
    expect((await Promise.all(calls)).map(textOf)).toEqual(Array.from({ length: 4 }, () => 'file:///root'))
    // The gateway does not have the capabilities of the client, and official servers ask for input only with them.
    expect(textOf(await client.callTool({ name: `${prefix}ask` }))).toContain('does not support')
    await client.close()
    await until('the servers have no session', () => servers.every(({ openSessions }) => openSessions() === 0))
  })
})

describe('responses without a session', () => {
  it('reach no server with another id', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    for (const { seen } of servers) seen.splice(0)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'gw_a_s_forged', result: {} })
    expect((await fetch(`${gateway.url}/two`, { method: 'POST', headers, body })).status).toBe(202)
    expect(servers.flatMap(({ seen }) => seen)).toEqual([])
  })
})

describe('a request that rules deny', () => {
  it('ends with an error for the server', async () => {
    const client = await connected(new StreamableHTTPClientTransport(new URL(`${gateway.url}/denied`)))
    expect(textOf(await client.callTool({ name: 'a_roots' }))).toContain('do not allow this request')
    await client.close()
  })
})
