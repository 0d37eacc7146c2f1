// MCP servers of both eras for tests, with the official packages.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer as LegacyServer, ResourceTemplate as LegacyTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  createMcpHandler,
  inputRequired,
  type McpHttpHandler,
  McpServer as ModernServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { listening } from '#test/ports.ts'
import type { TestRoute } from '#proxy/main.testing.ts'

export interface Upstream {
  readonly name: string
  readonly server: Server
  readonly port: number
  /** Requests in the order of arrival: HTTP method, or method of the message and its name. */
  readonly seen: string[]
  /** Headers of the last POST. */
  readonly headers: { last: Readonly<Record<string, unknown>> }
}

export interface ModernUpstream extends Upstream {
  readonly handler: McpHttpHandler
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** Of MCP 2026-07-28. `legacy`: also serves former versions, without sessions. */
export async function modernUpstream(name: string, legacy: 'reject' | 'stateless' = 'reject'): Promise<ModernUpstream> {
  const handler = createMcpHandler(() => modernTools(name), { legacy })
  const handle = toNodeHandler(handler)
  // node:http has the fields of the narrower type; it declares them as optional.
  const upstream = await upstreamOf(name, (request, response, message) =>
    handle(request as Parameters<typeof handle>[0], response, message),
  )
  return { ...upstream, handler }
}

function modernTools(name: string): ModernServer {
  const server = new ModernServer(
    { name, version: '1' },
    { instructions: `use ${name} well`, capabilities: { resources: { subscribe: true, listChanged: true } } },
  )
  server.registerTool('whoami', { description: 'name' }, () => text(name))
  server.registerTool(`add-${name}`, { inputSchema: z.object({ n: z.number() }) }, ({ n }) => text(`${name}:${n}`))
  server.registerTool(
    'regional',
    { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
    ({ region }) => text(region),
  )
  server.registerTool('slow', { description: 'reports progress' }, async ({ mcpReq }) => {
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: mcpReq._meta?.progressToken ?? 'none', progress: 1, total: 2 },
    })
    return text('done')
  })
  server.registerTool('ask', { description: 'asks the client' }, ({ mcpReq }) => {
    const answer: unknown = mcpReq.inputResponses?.['word']
    if (answer !== undefined) return text(JSON.stringify(answer))
    return inputRequired({
      inputRequests: {
        word: inputRequired.elicit({
          message: `${name} asks`,
          requestedSchema: { type: 'object', properties: { word: { type: 'string' } } },
        }),
      },
      requestState: `state of ${name}`,
    })
  })
  server.registerResource('doc', `doc://${name}/readme`, {}, (uri) => ({
    contents: [{ uri: uri.href, text: `from ${name}` }],
  }))
  server.registerResource('page', new ResourceTemplate(`doc://${name}/{page}`, { list: undefined }), {}, (uri) => ({
    contents: [{ uri: uri.href, text: `page of ${name}` }],
  }))
  server.registerPrompt('hello', { description: 'd' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: `hello from ${name}` } }],
  }))
  return server
}

export interface LegacyUpstream extends Upstream {
  /** Sends the notification in every open session. */
  readonly notify: (method: string, params?: Record<string, unknown>) => Promise<void>
  readonly openSessions: () => number
}

/** Of MCP 2025-11-25, with sessions. */
export async function legacyUpstream(name: string): Promise<LegacyUpstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  let created = 0
  const upstream = await upstreamOf(name, async (request, response, message) => {
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (known !== undefined) return known.handleRequest(request, response, message)
    if (id !== undefined) return void response.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `${name}-${++created}`,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await legacyTools(name).connect(transport)
    return transport.handleRequest(request, response, message)
  })
  const notify: LegacyUpstream['notify'] = async (method, params = {}) => {
    for (const transport of sessions.values()) await transport.send({ jsonrpc: '2.0', method, params })
  }
  return { ...upstream, notify, openSessions: () => sessions.size }
}

function legacyTools(name: string): LegacyServer {
  const server = new LegacyServer(
    { name, version: '1' },
    {
      instructions: `use ${name} well`,
      capabilities: { resources: { subscribe: true, listChanged: true }, logging: {} },
    },
  )
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  server.registerTool('sample', { description: 'asks the model of the client' }, async () => {
    const { content } = await server.server.createMessage({ messages: [], maxTokens: 1 })
    return text(JSON.stringify(content))
  })
  // On the stream of the call; the others use the server's own stream.
  server.registerTool('roots', { description: 'asks for the roots of the client' }, async ({ sendRequest }) => {
    const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)
    return text(roots.map(({ uri }) => uri).join())
  })
  server.registerTool('whoami', { description: 'name' }, () => text(name))
  server.registerTool(`add-${name}`, { inputSchema: { n: z.number() } }, ({ n }) => text(`${name}:${n}`))
  server.registerTool('ask', { description: 'asks the client on the stream of the call' }, async ({ requestId }) => {
    const requestedSchema = { type: 'object' as const, properties: { word: { type: 'string' as const } } }
    const answer = await server.server.elicitInput(
      { message: `${name} asks`, requestedSchema },
      { relatedRequestId: requestId },
    )
    return text(JSON.stringify(answer.content))
  })
  server.registerResource('doc', `doc://${name}/readme`, {}, (uri) => ({
    contents: [{ uri: uri.href, text: `from ${name}` }],
  }))
  const template = new LegacyTemplate(`doc://${name}/{page}`, {
    list: undefined,
    complete: { page: () => [`page of ${name}`] },
  })
  server.registerResource('page', template, {}, (uri) => ({ contents: [{ uri: uri.href, text: `page of ${name}` }] }))
  const who = completable(z.string(), () => [`friend of ${name}`])
  server.registerPrompt('hello', { description: 'd', argsSchema: { who } }, () => ({
    messages: [
      { role: 'user', content: { type: 'text', text: `hello from ${name}` } },
      { role: 'user', content: { type: 'resource_link', uri: `doc://${name}/readme`, name: 'doc' } },
    ],
  }))
  return server
}

type Handler = (request: IncomingMessage, response: ServerResponse, message: unknown) => Promise<void>

async function upstreamOf(name: string, handle: Handler): Promise<Upstream> {
  const seen: string[] = []
  const headers: Upstream['headers'] = { last: {} }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (request.method === 'POST') headers.last = { ...request.headers }
      // A message of the gateway or of the official client.
      const message = body === '' ? undefined : (JSON.parse(body) as { method?: string; params?: { name?: string } })
      seen.push([message?.method ?? request.method, message?.params?.name].filter(Boolean).join(' '))
      handle(request, response, message).catch(() => response.destroy())
    })
  })
  return { name, server, port: await listening(server), seen, headers }
}

/** A backend for the servers, and the backends of the servers. */
export function mcpRoute(
  name: string,
  upstreams: readonly Pick<Upstream, 'name' | 'port'>[],
  settings: Partial<MCPBackend> & { readonly inlinePolicies?: TestRoute['backend']['inlinePolicies'] } = {},
): TestRoute {
  const { inlinePolicies, ...backend } = settings
  return {
    name,
    prefix: `/${name}`,
    backend: {
      mcp: {
        targets: upstreams.map((upstream) => ({ name: upstream.name, ref: { backend: `ns/up-${upstream.port}` } })),
        sessionRouting: 'Stateful',
        prefixMode: 'Conditional',
        failureMode: 'FailClosed',
        ...backend,
      },
      inlinePolicies: { tcp: { connectTimeoutMs: 1000 }, ...inlinePolicies },
    },
  }
}

/** The server itself, as a backend that targets refer to. */
export function upstreamRoute({ port }: Pick<Upstream, 'port'>): TestRoute {
  return { name: `up-${port}`, prefix: `/unused-${port}`, backend: { static: { host: '127.0.0.1', port } } }
}
