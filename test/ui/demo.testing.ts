// A gateway with a route of each kind for pages of the web UI: policies at several levels, models with a provider and
// an MCP server on this machine.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { closeServer, listening } from '#test/ports.ts'
import { startUi, type Ui } from '#test/ui/browser.testing.ts'

export interface Demo extends Ui {
  /** One request of each kind. */
  traffic(): Promise<void>
}

const TOOLS = [
  {
    name: 'forecast',
    description: 'The weather of the next days',
    inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
]

/** `environment`: of the gateway. */
export async function startDemo(environment: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const [provider, mcp] = [
    createServer((request, response) => void serveModel(request, response)),
    createServer((request, response) => void serveMcp(request, response)),
  ]
  const servers: readonly Server[] = [provider, mcp]
  const ui = await startUi(fileOf(await listening(provider), await listening(mcp)), environment)
  return {
    ...ui,
    traffic: async () => {
      const body = JSON.stringify({ model: 'gpt-demo', messages: [{ role: 'user', content: 'Hi' }] })
      const headers = { 'content-type': 'application/json' }
      const answers = [
        await fetch(`${ui.gateway.url}/open`),
        await fetch(`${ui.gateway.url}/admin`),
        await fetch(`${ui.gateway.url}/nowhere`),
        await fetch(`${ui.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body }),
      ]
      for (const answer of answers) await answer.text()
    },
    stop: async () => {
      await ui.stop()
      for (const server of servers) closeServer(server)
    },
  }
}

function fileOf(provider: number, mcp: number): string {
  return JSON.stringify({
    config: {
      modelCatalog: [
        { inline: { providers: { openai: { models: { 'gpt-demo': { rates: { input: '2', output: '8' } } } } } } },
      ],
    },
    gateways: {
      default: { port: 'PORT', cors: { allowOrigins: ['https://shop.example'] } },
    },
    routes: [
      { name: 'open', matches: [{ path: { exact: '/open' } }], policies: { directResponse: { status: 200 } } },
      {
        name: 'admin',
        matches: [{ path: { pathPrefix: '/admin' } }],
        policies: {
          authorization: { rules: [{ allow: 'request.headers["x-role"] == "admin"' }] },
          backendAuth: { key: 'secret-of-the-backend' },
        },
        backends: [{ host: '127.0.0.1:9' }],
      },
    ],
    policies: [
      {
        name: { name: 'limits', namespace: 'default' },
        target: { gateway: { gatewayName: 'default' } },
        policy: { timeout: { requestTimeout: '20s' }, localRateLimit: [{ maxTokens: 100_000, fillInterval: '1s' }] },
      },
    ],
    llm: {
      gateways: 'default',
      models: [
        {
          name: 'gpt-demo',
          provider: 'openai',
          params: { apiKey: 'secret-of-the-provider', baseUrl: `http://127.0.0.1:${provider}/v1` },
        },
        { name: 'gpt-spare', provider: 'openai', params: { apiKey: 'k', baseUrl: `http://127.0.0.1:${provider}/v1` } },
      ],
      virtualModels: [
        {
          name: 'best',
          routing: {
            failover: {
              targets: [
                { model: 'gpt-demo', priority: 0 },
                { model: 'gpt-spare', priority: 1 },
              ],
            },
          },
        },
      ],
    },
    mcp: { gateways: 'default', targets: [{ name: 'weather', mcp: { host: `http://127.0.0.1:${mcp}/mcp` } }] },
  }).replace('"PORT"', 'PORT')
}

const USAGE = { prompt_tokens: 900, completion_tokens: 300, total_tokens: 1200 }
const TOOL_CALL = { id: 'call-1', type: 'function', function: { name: 'forecast', arguments: '{"place":"Bern"}' } }

/** Says hello; calls a tool if the request has tools. */
async function serveModel(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream, tools } = JSON.parse(await text(request)) as { stream?: boolean; tools?: unknown[] } // of the gateway
  const calls = tools === undefined ? {} : { tool_calls: [{ index: 0, ...TOOL_CALL }] }
  if (stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of [
      { role: 'assistant', content: 'Hel' },
      { content: 'lo', ...calls },
    ]) {
      response.write(`data: ${JSON.stringify(chunkOf({ choices: [{ index: 0, delta }] }))}\n\n`)
    }
    response.end(`data: ${JSON.stringify(chunkOf({ choices: [], usage: USAGE }))}\n\ndata: [DONE]\n\n`)
    return
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello', ...calls }, finish_reason: 'stop' }]
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-demo', choices, usage: USAGE }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function chunkOf(part: object): object {
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-demo', ...part }
}

/** Of JSON-RPC. */
interface Call {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly arguments?: { readonly place?: string } }
}

async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const call = request.method === 'POST' ? (JSON.parse(await text(request)) as Call) : undefined // of the gateway
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'weather', version: '1' },
    },
    'tools/list': { tools: TOOLS },
    'tools/call': { content: [{ type: 'text', text: `Rain in ${call?.params?.arguments?.place}` }] },
  }
  const result = call === undefined ? undefined : results[call.method]
  if (call?.id === undefined) response.writeHead(call === undefined ? 405 : 202).end()
  else {
    const rest = result === undefined ? { error: { code: -32_601, message: 'unknown method' } } : { result }
    const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, ...rest })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
}
