// GwBackend a2a: an agent whose card names the gateway.
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding, localService } from './suite/services.ts'

const SAMPLE = 'gwbackend-a2a.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AgentCard',
    description: 'the card of an agent names the gateway, with the prefix of the route, and messages go to the agent',
    sample: SAMPLE,
    async run(gateway) {
      await expectCard(gateway)
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
  {
    shortName: 'AgentService',
    description: 'a Service port with the appProtocol of A2A is an agent, without a GwBackend',
    sample: SAMPLE,
    change: all(
      changing('HTTPRoute/agent', {
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/agents/echo' } }],
            filters: [
              {
                type: 'URLRewrite',
                urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
              },
            ],
            backendRefs: [{ name: 'agent', port: 80 }],
          },
        ],
      }),
      adding(...localService({ name: 'agent', targetPort: 18_096, appProtocol: 'gw.dev/a2a' })),
    ),
    run: expectCard,
  },
]

async function expectCard(gateway: SampleGateway): Promise<void> {
  const { status, text } = await gateway.ask('/agents/echo/.well-known/agent-card.json')
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual({
    name: 'echo agent',
    url: `${gateway.url}/agents/echo`,
    supportedInterfaces: [{ url: `${gateway.url}/agents/echo/a2a/v1` }],
  })
}
