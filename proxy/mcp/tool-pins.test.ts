// Pins of tools: the comparison alone, and through the gateway with official clients of both eras.
import { createServer, type Server } from 'node:http'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { McpToolPinning } from '#api/ir/types.gen.ts'
import { recordOf } from '#api/json.ts'
import { toolDigest } from '#api/mcp/tool-digest.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { emptyMcpFacts } from './context.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'
import { toolPins } from './tool-pins.ts'

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' as const } })
const pin = (target: string, name: string, description: string) => ({
  target,
  name,
  digest: toolDigest(tool(name, description)),
})
const listed = (...tools: ReturnType<typeof tool>[]) => tools.map((item) => ({ name: item.name, item }))

function compared(pinning: McpToolPinning) {
  const pins = toolPins(pinning, () => 0)
  return {
    pins,
    /** The names that clients see, and the number of reported definitions. */
    see: (target: string, ...tools: ReturnType<typeof tool>[]) => {
      const exchange = exchangeOf()
      exchange.mcp = emptyMcpFacts()
      const names = pins.accepted(exchange, target, listed(...tools)).map(({ name }) => name)
      return { names, reported: exchange.mcp.changedTools?.get(target) ?? 0, log: exchange.errorDetail }
    },
  }
}

describe('pins', () => {
  it('report each changed definition once, and keep the tool', () => {
    const { see } = compared({ mode: 'Report', tools: [pin('a', 'x', 'good')] })
    expect(see('a', tool('x', 'good'))).toEqual({ names: ['x'], reported: 0, log: undefined })
    const log = 'a: unknown definitions of tools: x'
    expect(see('a', tool('x', 'evil'))).toEqual({ names: ['x'], reported: 1, log })
    expect(see('a', tool('x', 'evil')).reported).toBe(0)
    expect(see('a', tool('x', 'worse')).reported).toBe(1)
    expect(see('a', tool('x', 'good')).reported).toBe(0)
  })

  it('report tools without a pin, if their server has pins', () => {
    const { see } = compared({ mode: 'Report', tools: [pin('a', 'x', 'good')] })
    expect(see('a', tool('x', 'good'), tool('y', 'new'))).toMatchObject({ names: ['x', 'y'], reported: 1 })
  })

  it('hide what differs with mode Refuse', () => {
    const { see, pins } = compared({ mode: 'Refuse', tools: [pin('a', 'x', 'good'), pin('a', 'y', 'good')] })
    const exchange = exchangeOf()
    expect(pins.isAccepted(exchange, 'a', 'x')).toBeUndefined()
    expect(see('a', tool('x', 'evil'), tool('y', 'good'), tool('z', 'new'))).toMatchObject({
      names: ['y'],
      reported: 2,
      log: 'a: unknown definitions of tools: x, z',
    })
    expect(['x', 'y', 'z'].map((name) => pins.isAccepted(exchange, 'a', name))).toEqual([false, true, false])
  })

  it('remember the first definitions of servers without pins, and only report changes', () => {
    const { see, pins } = compared({ mode: 'Refuse', tools: [pin('a', 'x', 'good')] })
    expect(pins.isRefusing('b')).toBe(false)
    expect(see('b', tool('x', 'first'))).toMatchObject({ names: ['x'], reported: 0 })
    expect(see('b', tool('x', 'second'))).toMatchObject({ names: ['x'], reported: 1 })
    expect(see('b', tool('x', 'first')).reported).toBe(0)
  })

  it('limit the names of a log line', () => {
    const { see } = compared({ mode: 'Report', tools: [pin('a', 'x', 'good')] })
    const many = Array.from({ length: 10 }, (_, i) => tool(`${i}${'n'.repeat(100)}`, 'd'))
    const { log = '', reported } = see('a', ...many)
    expect(reported).toBe(10)
    expect(log).toMatch(/^a: unknown definitions of tools: 0n{63}, .* and 2 more$/)
  })
})

describe('a server that changes the description of a tool', () => {
  let description = 'good'
  const calls: string[] = []
  let server: Server
  let gateway: TestProxy

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        if (request.method !== 'POST') {
          response.writeHead(405).end()
          return
        }
        const { id, method, params } = recordOf(JSON.parse(text))
        if (id === undefined || method === 'server/discover') {
          response.writeHead(id === undefined ? 202 : 404).end()
          return
        }
        if (method === 'tools/call') calls.push(String(recordOf(params)['name']))
        const results: Record<string, object> = {
          initialize: {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'a', version: '1' },
          },
          'tools/list': { tools: [tool('x', description), tool('y', 'same'), tool('z', 'unpinned')] },
          'tools/call': { content: [{ type: 'text', text: 'done' }] },
        }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[String(method)] ?? {} }))
      })
    })
    const port = await listening(server)
    const route = (name: string, mode: McpToolPinning['mode'], more: object = {}) =>
      mcpRoute(name, [{ name: 'a', port }], {
        toolPinning: { mode, tools: [pin('a', 'x', 'good'), pin('a', 'y', 'same')] },
        ...more,
      })
    gateway = await testProxy({
      routes: [
        upstreamRoute({ port }),
        route('report', 'Report'),
        route('refuse', 'Refuse'),
        route('prefixed', 'Refuse', { prefixMode: 'Always' }),
      ],
    })
  })

  afterAll(async () => {
    await gateway.stop()
    closeServer(server)
  })

  async function withClient(route: string, work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`)))
    try {
      await work(client)
    } finally {
      await client.close()
    }
  }

  const namesOf = ({ tools }: { tools: { name: string }[] }): string[] => tools.map(({ name }) => name)
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()

  it('is reported, and its tools stay, with mode Report', async () => {
    description = 'evil'
    await withClient('report', async (client) => {
      expect(namesOf(await client.listTools())).toEqual(['x', 'y', 'z'])
      await client.callTool({ name: 'x' })
    })
    await until('the changes are counted', async () =>
      /gw_mcp_changed_tools_total\{server="a",.*\} 2\n/.test(await metrics()),
    )
  })

  it('cannot show or serve the tool with mode Refuse, also if the client has not listed', async () => {
    description = 'evil'
    calls.splice(0)
    await withClient('refuse', async (client) => {
      await expect(client.callTool({ name: 'x' })).rejects.toThrow('Unknown tool: x')
      expect(namesOf(await client.listTools())).toEqual(['y'])
      await expect(client.callTool({ name: 'z' })).rejects.toThrow('Unknown tool: z')
      await client.callTool({ name: 'y' })
    })
    await withClient('prefixed', async (client) => {
      expect(namesOf(await client.listTools())).toEqual(['a_y'])
      await expect(client.callTool({ name: 'a_x' })).rejects.toThrow('Unknown tool: a_x')
    })
    expect(calls).toEqual(['y'])
  })

  it('is served again when the description is the reviewed one', async () => {
    description = 'good'
    await withClient('refuse', async (client) => {
      expect(namesOf(await client.listTools())).toEqual(['x', 'y'])
      await client.callTool({ name: 'x' })
    })
  })

  it('cannot serve the tool to clients of MCP 2026-07-28', async () => {
    description = 'evil'
    const client = new ModernClient(
      { name: 't', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new ModernTransport(new URL(`${gateway.url}/refuse`)))
    expect(namesOf(await client.listTools())).toEqual(['y'])
    await expect(client.callTool({ name: 'x' })).rejects.toThrow('Unknown tool: x')
    await client.close()
  })
})
