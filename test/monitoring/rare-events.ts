// A gateway with what ordinary traffic does not cause: matches of guards and a guard that cannot be asked, an MCP
// server that changes a tool and forges messages, a session that ends, credentials that a backend refuses, texts that
// are not HTTP, and the certificate of a mesh.
import { connect } from 'node:net'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { PromptGuard } from '#api/ir/types.gen.ts'
import { isRecord, recordOf } from '#api/json.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { mcpRoute, upstreamRoute } from '#proxy/mcp/servers.testing.ts'
import { startAuthority } from '#proxy/mesh/authority.testing.ts'
import { closeServer, listening } from '#test/ports.ts'

const SESSION_MS = 500
const REJECTION = { status: 422, body: 'no', headers: [] }
const GUARDS: PromptGuard = {
  request: [
    { rejection: REJECTION, regex: { action: 'Reject', builtins: ['Email'], patterns: ['forbidden'] } },
    { rejection: REJECTION, webhook: { service: { backend: 'ns/gone' }, failureMode: 'FailOpen' } },
  ],
}
const SIGNED = { assumeRole: { roleRef: 'arn:aws:iam::123456789012:role/gateway' }, region: 'eu-west-1' }

export interface RareEvents {
  readonly statsPort: number
  /** Once each. */
  cause(): Promise<void>
  stop(): Promise<void>
}

export async function startRareEvents(): Promise<RareEvents> {
  const authority = await startAuthority()
  const tools = createServer((request, response) => void answerTools(request, response))
  const refusing = createServer((request, response) => {
    request.resume()
    response.writeHead(401).end()
  })
  const server = { name: 'tools', port: await listening(tools) }
  const at = { host: '127.0.0.1', port: await listening(refusing) }
  const gateway = await testProxy({
    settings: { mesh: authority.settings, mcpSessionTtlMs: SESSION_MS },
    routes: [
      upstreamRoute(server),
      mcpRoute('mcp', [server], { toolPinning: { mode: 'Report', tools: [] } }),
      { name: 'gone', prefix: '/unused', backend: { static: { host: '127.0.0.1', port: 1 } } },
      { name: 'signed', prefix: '/signed', backend: { static: at }, backendInline: { auth: { cloudA: SIGNED } } },
      {
        name: 'guarded',
        prefix: '/guarded',
        backend: {
          ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} }, hostOverride: at }] }] },
          inlinePolicies: { ai: { routes: { '*': 'Completions' }, promptGuard: GUARDS } },
        },
      },
    ],
  })
  return {
    statsPort: gateway.proxy.ports.stats,
    cause: () => causeAll(gateway),
    stop: async () => {
      await gateway.stop()
      authority.close()
      closeServer(tools)
      closeServer(refusing)
    },
  }
}

async function causeAll(gateway: TestProxy): Promise<void> {
  const post = (path: string, body: object, headers = {}): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(body),
    })
  for (const content of ['a@example.com', 'an answer']) {
    await (await post('/guarded', { model: 'm', messages: [{ role: 'user', content }] })).text()
  }
  await (await fetch(`${gateway.url}/signed`)).text()
  await bytes(gateway.port, 'no request\r\n\r\n')
  let id = 0
  const rpc = (method: string, params: object, headers = {}): Promise<Response> =>
    post('/mcp', { jsonrpc: '2.0', id: ++id, method, params }, headers)
  const opened = await rpc('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  })
  await opened.text()
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  for (const method of ['tools/list', 'tools/list', 'tools/call']) {
    await (await rpc(method, { name: 'x' }, session)).text()
  }
}

/** Sends them, and waits until the proxy closes the connection. */
export async function bytes(port: number, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  // A reset is an end as well.
  socket.on('error', () => undefined)
  socket.resume().on('close', () => resolve())
  await promise
}

let lists = 0

/** A tool with another description each time, and a response to a call that no client has made. */
async function answerTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 204 : 405).end()
    return
  }
  const message = recordOf(await json(request))
  const { id, method } = message
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const tool = { name: 'x', description: `version ${lists++}`, inputSchema: { type: 'object' } }
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  }
  const result = results[String(method)]
  const answer = { jsonrpc: '2.0', id, ...(isRecord(result) ? { result } : { error: { code: -32601, message: 'no' } }) }
  const forged = { ...answer, id: 'forged' }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's' })
  response.end([forged, answer].map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
}
