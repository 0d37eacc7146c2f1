// gw mcp pins as users run it: its output is the field of a backend that then serves all tools of the server.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { McpToolPinning } from '#api/ir/types.gen.ts'
import { testProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '#proxy/mcp/servers.testing.ts'
import { closeServer, freePort } from '#test/ports.ts'
import { gw } from './gw.ts'

let server: LegacyUpstream

beforeAll(async () => {
  server = await legacyUpstream('a')
})

afterAll(() => closeServer(server.server))

it('prints pins with which the gateway serves all tools of the server', { timeout: 60_000 }, async () => {
  const { code, stdout } = await gw('mcp', 'pins', `http://127.0.0.1:${server.port}/mcp`, '--target', 'a')
  expect(code).toBe(0)
  expect(stdout).toContain('mode: Refuse # refuse in a standalone file\n')
  const { toolPinning } = parse(stdout) as { toolPinning: McpToolPinning } // printed by the command
  expect(toolPinning.mode).toBe('Refuse')
  const [first, ...others] = toolPinning.tools
  expect(others.length).toBeGreaterThan(2)
  const route = (name: string, tools: McpToolPinning['tools']) =>
    mcpRoute(name, [server], { toolPinning: { mode: 'Refuse', tools } })
  const gateway = await testProxy({
    routes: [upstreamRoute(server), route('all', toolPinning.tools), route('others', others)],
  })
  const toolsOf = async (name: string): Promise<(string | undefined)[]> => {
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${name}`)))
    const { tools } = await client.listTools()
    await client.close()
    return tools.map((tool) => tool.name)
  }
  expect(await toolsOf('all')).toEqual(toolPinning.tools.map(({ name }) => name))
  expect(await toolsOf('others')).not.toContain(first?.name)
  await gateway.stop()
})

it('exits with 2 if nothing answers, and with 1 for a wrong URL', { timeout: 60_000 }, async () => {
  const none = await gw('mcp', 'pins', `http://127.0.0.1:${await freePort()}/mcp`, '--target', 'a')
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('cannot reach the MCP server')])
  const wrong = await gw('mcp', 'pins', 'mcp.example.com', '--target', 'a')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must be a URL with http or https')])
})
