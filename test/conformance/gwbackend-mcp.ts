// GwBackend mcp: one server, several servers, and what their tools are called.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'
import { callTool, toolNames, withMcp } from './suite/mcp-client.ts'

const SAMPLE = 'gwbackend-mcp.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MCPOneServer',
    description: 'a single server keeps its names; with prefixMode Always they get the server as prefix',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => {
        expect(await toolNames(client)).toEqual(['echo', 'add', 'upper'])
        expect(await callTool(client, 'upper', { text: 'hi' })).toBe('HI')
      })
      await withMcp(gateway, { path: '/always' }, async (client) => {
        expect(await toolNames(client)).toEqual(['demo_echo', 'demo_add', 'demo_upper'])
        expect(await callTool(client, 'demo_add', { a: 2, b: 40 })).toBe('42')
      })
    },
  },
  {
    shortName: 'MCPSeveralServers',
    description: 'tools of all servers are listed with prefixes, and calls find their server',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/several' }, async (client) => {
        const names = ['demo_echo', 'demo_add', 'demo_upper', 'words_reverse', 'words_echo']
        expect(await toolNames(client)).toEqual(names)
        expect(await callTool(client, 'demo_echo', { text: 'hi' })).toBe('hi')
        expect(await callTool(client, 'words_echo', { text: 'hi' })).toBe('hi hi')
        expect(await callTool(client, 'words_reverse', { text: 'a b c' })).toBe('c b a')
      })
    },
  },
  {
    shortName: 'MCPNoPrefixes',
    description: 'with prefixMode Never names that several servers have are left out, the others find their server',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/never' }, async (client) => {
        expect(await toolNames(client)).toEqual(['add', 'upper', 'reverse'])
        expect(await callTool(client, 'reverse', { text: 'a b c' })).toBe('c b a')
        expect(await callTool(client, 'upper', { text: 'abc' })).toBe('ABC')
        await expect(client.callTool({ name: 'echo', arguments: { text: 'hi' } })).rejects.toThrow('multiple targets')
      })
    },
  },
]
