// backend.mcp.authorization: lists are filtered, calls of what is not allowed are answered as if it did not exist.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { callTool, toolNames, withMcp } from './suite/mcp-client.ts'

const SAMPLE = 'backend-mcp.yaml'
const ADMIN = { path: '/mcp', headers: { 'x-role': 'admin' } }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MCPAuthorization',
    description: 'clients see and call the tools their rules allow, and no others',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp' }, async (client) => {
        expect(await toolNames(client)).toEqual(['echo'])
        expect(await callTool(client, 'echo', { text: 'hi' })).toBe('hi')
        await expect(client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).rejects.toThrow('Unknown tool: add')
      })
      await withMcp(gateway, ADMIN, async (client) => {
        expect(await toolNames(client)).toEqual(['echo', 'add'])
        expect(await callTool(client, 'add', { a: 2, b: 40 })).toBe('42')
        await expect(client.callTool({ name: 'upper', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool')
      })
    },
  },
  {
    shortName: 'MCPAuthorizationBroken',
    description: 'an Allow rule that does not compile allows nothing',
    sample: SAMPLE,
    change: replacing('request.headers["x-role"] == "admin"', 'request.headers["x-role"'),
    async run(gateway) {
      await withMcp(gateway, ADMIN, async (client) => expect(await toolNames(client)).toEqual(['echo']))
      const [accepted] = gateway.conditions('GwPolicy', 'backend-mcp-admin')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.backend.mcp.authorization.policy.matchExpressions[1]')
    },
  },
  {
    shortName: 'MCPAuthorizationBrokenDeny',
    description: 'a Deny rule that could never match refuses the whole backend',
    sample: SAMPLE,
    change: replacing(
      'action: Allow\n        policy:\n          matchExpressions:\n            - mcp.tool.name == "add"',
      'action: Deny\n        policy:\n          matchExpressions:\n            - mcp.tool.name ==',
    ),
    async run(gateway) {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
      const answer = await gateway.ask('/mcp', { method: 'POST', headers, body })
      expect(answer).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-mcp-admin')
      expect(accepted?.message).toContain('spec.backend.mcp.authorization.policy.matchExpressions[0]')
    },
  },
]
