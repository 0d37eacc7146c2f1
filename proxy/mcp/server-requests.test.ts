// Requests of servers to the official client under rules, in both eras, with one and two servers.
import { createServer } from 'node:http'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Authorization } from '#api/ir/types.gen.ts'
import { recordOf } from '#api/json.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { watchTrace } from '../trace/watcher.testing.ts'
import {
  legacyUpstream,
  type LegacyUpstream,
  mcpRoute,
  modernUpstream,
  type ModernUpstream,
} from './servers.testing.ts'
import { upstreamRoute } from './servers.testing.ts'

let legacy: LegacyUpstream[]
let modern: ModernUpstream[]
let gateway: TestProxy

const rules = (action: Authorization['action'], ...matchExpressions: string[]) => ({
  inlinePolicies: { mcpAuthorization: { action, matchExpressions } },
})

beforeAll(async () => {
  legacy = await Promise.all(['a', 'b'].map((name) => legacyUpstream(name)))
  modern = await Promise.all(['a', 'b'].map((name) => modernUpstream(name)))
  const port = await listening(asking)
  const noSampling = rules('Deny', 'mcp.methodName == "sampling/createMessage"')
  const notOfB = rules('Deny', 'mcp.serverRequest.target == "b"')
  const onlyTools = rules('Allow', 'mcp.tool.name in ["ask", "sample"]')
  gateway = await testProxy({
    routes: [
      ...[...legacy, ...modern].map(upstreamRoute),
      mcpRoute('one', legacy.slice(0, 1), noSampling),
      mcpRoute('two', legacy, notOfB),
      mcpRoute('tools', legacy.slice(0, 1), onlyTools),
      mcpRoute('modern', modern, notOfB),
      upstreamRoute({ port }),
      mcpRoute('stateless', [{ name: 'asking', port }], { ...noSampling, sessionRouting: 'Stateless' }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of [...legacy, ...modern]) closeServer(server)
  closeServer(asking)
})

/** A server whose only tool asks the client, whatever its capabilities, and returns the response that it got. */
const asking = createServer((request, reply) => {
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    const message = recordOf(text === '' ? {} : (JSON.parse(text) as unknown))
    const { id, method } = message
    const answer = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })
    if (method === 'tools/call') {
      const sampling = { jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} }
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(sampling)}\n\n`)
      asking.once('answered', (got: unknown) => {
        reply.end(`data: ${answer({ content: [{ type: 'text', text: JSON.stringify(got) }] })}\n\n`)
      })
    } else if (method === 'initialize') {
      const serverInfo = { name: 'asking', version: '1' }
      reply.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
      reply.end(answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }))
    } else {
      reply.writeHead(202).end()
      if (method === undefined && id !== undefined) asking.emit('answered', message)
    }
  })
})

interface Connected {
  readonly client: Client
  /** Requests of servers that have reached the client. */
  readonly asked: readonly string[]
}

async function withClient(route: string, work: (connected: Connected) => Promise<void>): Promise<void> {
  const client = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
  const asked: string[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ method }) => {
    asked.push(method)
    return { action: 'accept', content: { word: 'yes' } }
  })
  client.setRequestHandler(CreateMessageRequestSchema, ({ method }) => {
    asked.push(method)
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }
  })
  client.setRequestHandler(ListRootsRequestSchema, ({ method }) => {
    asked.push(method)
    return { roots: [{ uri: 'file:///root' }] }
  })
  for (const { seen } of legacy) seen.splice(0)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`)))
  await until('the gateway listens', () => legacy[0]?.seen.includes('GET') === true)
  try {
    await work({ client, asked })
  } finally {
    await client.close()
  }
}

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

const DENIED = 'the rules of the gateway do not allow this request'

describe('rules for requests of servers', () => {
  it('deny a method: the server gets an error, the client gets nothing', async () => {
    await withClient('one', async ({ client, asked }) => {
      const sampled = await client.callTool({ name: 'sample' })
      expect(sampled).toMatchObject({ isError: true })
      expect(textOf(sampled)).toContain(`-32001: ${DENIED}`)
      expect(textOf(await client.callTool({ name: 'ask' }))).toBe('{"word":"yes"}')
      expect(textOf(await client.callTool({ name: 'roots' }))).toBe('file:///root')
      expect(asked).toEqual(['elicitation/create', 'roots/list'])
    })
  })

  it('deny all requests of one server, on the stream of a call and on that of the session', async () => {
    await withClient('two', async ({ client, asked }) => {
      await until('the gateway listens to b', () => legacy[1]?.seen.includes('GET') === true)
      for (const tool of ['ask', 'sample', 'roots']) {
        expect(textOf(await client.callTool({ name: `b_${tool}` }))).toContain(DENIED)
      }
      expect(asked).toEqual([])
      expect(textOf(await client.callTool({ name: 'a_sample' }))).toContain('sampled')
      expect(asked).toEqual(['sampling/createMessage'])
    })
  })

  it('that allow a tool allow requests on the stream of its call alone', async () => {
    await withClient('tools', async ({ client, asked }) => {
      expect(textOf(await client.callTool({ name: 'ask' }))).toBe('{"word":"yes"}')
      expect(textOf(await client.callTool({ name: 'sample' }))).toContain(DENIED)
      expect(asked).toEqual(['elicitation/create'])
    })
  })

  it('deny requests to a client without a session: the server gets the error under its own id', async () => {
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/stateless`)))
    const answer = JSON.parse(String(textOf(await client.callTool({ name: 'any' })))) as unknown
    expect(answer).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32_001, message: DENIED } })
    await client.close()
  })

  it('deny the input that a result requires: the client gets an error in its place', async () => {
    const asked: string[] = []
    const client = new ModernClient(
      { name: 't', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { word: 'yes' } }
    })
    await client.connect(new ModernTransport(new URL(`${gateway.url}/modern`)))
    await expect(client.callTool({ name: 'b_ask' })).rejects.toMatchObject({ code: -32_001 })
    expect(asked).toEqual([])
    expect(textOf(await client.callTool({ name: 'a_ask' }))).toContain('yes')
    expect(asked).toEqual(['a asks'])
    await client.close()
  })

  it('are counted and traced', async () => {
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
    await until('the requests are counted', async () =>
      /gw_mcp_dropped_messages_total\{server="b".*route="[^"]*modern/.test(await metrics()),
    )
    await withClient('tools', async ({ client }) => {
      const watcher = await watchTrace({
        adminPort: gateway.proxy.ports.admin,
        expression: 'request.method == "POST"',
      })
      await client.callTool({ name: 'ask' })
      // Of the tool, and of the request of its server.
      const decisions = (await watcher.ended).filter(({ message }) => message.type === 'authorizationResult')
      expect(decisions.map(({ message }) => message['result'])).toEqual(['allow', 'allow'])
    })
  })
})
