// GwBackend a2a: an agent whose card names the gateway.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AgentCard',
    description: 'the card of an agent names the gateway, with the prefix of the route, and messages go to the agent',
    sample: 'gwbackend-a2a.yaml',
    async run(gateway) {
      const { status, text } = await gateway.ask('/agents/echo/.well-known/agent-card.json')
      expect(status).toBe(200)
      expect(JSON.parse(text)).toEqual({
        name: 'echo agent',
        url: `${gateway.url}/agents/echo`,
        supportedInterfaces: [{ url: `${gateway.url}/agents/echo/a2a/v1` }],
      })
      const message = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }
      const headers = { 'content-type': 'application/json' }
      const answer = await gateway.ask('/agents/echo/a2a/v1', {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
      })
      expect(JSON.parse(answer.text)).toMatchObject({ result: { path: '/a2a/v1' } })
      await expect.poll(() => gateway.log()).toMatch(/protocol="?a2a/)
    },
  },
]
