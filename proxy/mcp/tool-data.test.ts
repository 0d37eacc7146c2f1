// CEL mcp.tool.arguments and mcp.tool.result, through the gateway with an official client and server.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { evaluate } from '../cel/evaluate.ts'
import { exchangeOf, expression } from '../policy/exchange.testing.ts'
import { requestState } from '../trace/snapshot.ts'
import { CredentialNames } from '../log/credential-names.ts'
import { Redactor } from '../trace/redactor.ts'
import { emptyMcpFacts } from './context.ts'
import { legacyUpstream, mcpRoute, type Upstream, upstreamRoute } from './servers.testing.ts'

let server: Upstream
let gateway: TestProxy

beforeAll(async () => {
  server = await legacyUpstream('a')
  const inlinePolicies = {
    mcpAuthorization: {
      action: 'Require' as const,
      matchExpressions: ['!has(mcp.tool.arguments) || mcp.tool.arguments.n < 10'],
    },
  }
  gateway = await testProxy({ routes: [upstreamRoute(server), mcpRoute('ruled', [server], { inlinePolicies })] })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server.server)
})

describe('mcp.tool.arguments', () => {
  it('decides about calls; lists have no arguments', async () => {
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/ruled`)))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('add-a')
    const call = (n: number) => client.callTool({ name: 'add-a', arguments: { n } })
    expect(await call(9)).toMatchObject({ content: [{ text: 'a:9' }] })
    await expect(call(10)).rejects.toThrow('Unknown tool: add-a')
    await client.close()
  })
})

describe('contents of a tool call', () => {
  const exchange = exchangeOf({})
  exchange.mcp = {
    ...emptyMcpFacts(),
    kind: 'tool',
    target: 'a',
    name: 'add',
    toolArguments: { n: 3, deep: [{ x: 1.5 }] },
    toolResult: { content: [{ type: 'text', text: 'hi' }], isError: false },
  }

  it.each([
    'mcp.tool.arguments.n == 3 && mcp.tool.arguments.deep[0].x == 1.5',
    'mcp.tool.result.content[0].text == "hi" && !mcp.tool.result.isError',
    'mcp.tool.name == "add" && mcp.tool.target == "a" && !has(mcp.tool.error) && !has(mcp.prompt)',
  ])('%s', (source) => {
    expect(evaluate(expression(source), exchange)).toBe(true)
  })

  it('stay unchanged for the server when expressions read them', () => {
    expect(exchange.mcp?.toolArguments).toEqual({ n: 3, deep: [{ x: 1.5 }] })
  })

  it('are not in the trace', () => {
    expect(requestState(exchange, new Redactor(new CredentialNames()))['mcp']).toEqual({
      tool: { target: 'a', name: 'add' },
    })
  })
})
