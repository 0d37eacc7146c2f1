// The official client of MCP 2025-11-25 with every method, over both transports, through 1, 2 and 8 servers.
// @module-tag full
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

const COUNTS = [1, 2, 8]
const TRANSPORTS = {
  'Streamable HTTP': (url: string) => new StreamableHTTPClientTransport(new URL(url)),
  SSE: (url: string) => new SSEClientTransport(new URL(`${url}/sse`)),
}
let servers: LegacyUpstream[]
let gateway: TestProxy

beforeAll(async () => {
  servers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => legacyUpstream(name)))
  gateway = await testProxy({
    // Messages over SSE arrive at workers that do not have the stream of the client.
    workers: 3,
    routes: [...servers.map(upstreamRoute), ...COUNTS.map((count) => mcpRoute(`of-${count}`, servers.slice(0, count)))],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
})

const textOf = (result: unknown): unknown => (result as { content: { text: string }[] }).content[0]?.text // shape of a tool result

const CASES = COUNTS.flatMap((count) => Object.entries(TRANSPORTS).map(([name, connect]) => ({ count, name, connect })))

describe.each(CASES)('the official client of 2025-11-25 over $name with $count servers', ({ count, connect }) => {
  const updated: string[] = []
  let client: Client
  /** The last server. */
  const last = (): LegacyUpstream => {
    const server = servers[count - 1]
    if (server === undefined) throw new Error('no server')
    return server
  }
  const named = (name: string): string => (count === 1 ? name : `${last().name}_${name}`)
  const uriOf = (uri: string): string => (count === 1 ? uri : `${last().name}+${uri}`)

  beforeAll(async () => {
    client = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { word: 'yes' } }))
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'sampled' },
    }))
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///root' }] }))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
    for (const { seen } of servers) seen.splice(0)
    await client.connect(connect(`${gateway.url}/of-${count}`))
    await until('the gateway listens', () => servers.slice(0, count).every(({ seen }) => seen.includes('GET')))
  })

  afterAll(() => client.close())

  it('lists tools, prompts, resources and templates', async () => {
    expect((await client.listTools()).tools).toHaveLength(5 * count)
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain(named('hello'))
    expect((await client.listResources()).resources).toHaveLength(count)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(uriOf(`doc://${last().name}/{page}`))
  })

  it('calls tools, reads resources and gets prompts', async () => {
    const { name } = last()
    expect(textOf(await client.callTool({ name: named(`add-${name}`), arguments: { n: 3 } }))).toBe(`${name}:3`)
    const { contents } = await client.readResource({ uri: uriOf(`doc://${name}/readme`) })
    expect(contents).toMatchObject([{ uri: uriOf(`doc://${name}/readme`), text: `from ${name}` }])
    const { messages } = await client.getPrompt({ name: named('hello'), arguments: { who: 'x' } })
    expect(messages[1]?.content).toMatchObject({ type: 'resource_link', uri: uriOf(`doc://${name}/readme`) })
  })

  it('completes arguments of prompts and of resource templates', async () => {
    const { name } = last()
    const ofPrompt = await client.complete({
      ref: { type: 'ref/prompt', name: named('hello') },
      argument: { name: 'who', value: '' },
    })
    expect(ofPrompt.completion.values).toEqual([`friend of ${name}`])
    const ofTemplate = await client.complete({
      ref: { type: 'ref/resource', uri: uriOf(`doc://${name}/{page}`) },
      argument: { name: 'page', value: '' },
    })
    expect(ofTemplate.completion.values).toEqual([`page of ${name}`])
  })

  it('answers requests of a server: input, samples and roots', async () => {
    expect(textOf(await client.callTool({ name: named('ask') }))).toBe('{"word":"yes"}')
    expect(textOf(await client.callTool({ name: named('sample') }))).toContain('sampled')
    expect(textOf(await client.callTool({ name: named('roots') }))).toBe('file:///root')
  })

  it('subscribes to a resource', async () => {
    const uri = `doc://${last().name}/readme`
    await client.subscribeResource({ uri: uriOf(uri) })
    await last().notify('notifications/resources/updated', { uri })
    await until('the notification arrives', () => updated.length > 0)
    expect(updated).toEqual([uriOf(uri)])
    await client.unsubscribeResource({ uri: uriOf(uri) })
  })

  it('reaches all servers with ping and with a log level', async () => {
    for (const { seen } of servers) seen.splice(0)
    await client.ping()
    await client.setLoggingLevel('error')
    for (const { seen } of servers.slice(0, count)) expect(seen).toEqual(['ping', 'logging/setLevel'])
  })
})
