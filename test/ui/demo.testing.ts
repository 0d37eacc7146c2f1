// A gateway with a route of each kind for pages of the web UI: policies at several levels, models with a provider and
// an MCP server on this machine.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { closeServer, listening } from '#test/ports.ts'
import { startUi, type Ui } from '#test/ui/browser.testing.ts'
import { startLimiter } from '#test/ui/demo-limiter.testing.ts'
import { serveModel } from '#test/ui/demo-model.testing.ts'

export interface Demo extends Ui {
  /** One request of each kind. */
  traffic(): Promise<void>
  /** Methods that the MCP server has got. */
  calls(): readonly string[]
}

const TOOLS = [
  {
    name: 'forecast',
    description: 'The weather of the next days',
    inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
  { name: 'ask-user', description: 'Asks the user where to look', inputSchema: { type: 'object' } },
  { name: 'ask-model', description: 'Asks a model of the client', inputSchema: { type: 'object' } },
]
/** An API whose operations are tools. */
const PETS = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        summary: 'A pet with its owner',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
}
/** What the tools ask the client during a call. */
const QUESTIONS: Readonly<Record<string, object>> = {
  'ask-user': {
    method: 'elicitation/create',
    params: {
      message: 'Which place?',
      requestedSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    },
  },
  'ask-model': {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: 'The weather?' } }], maxTokens: 10 },
  },
}
/** Calls that wait for an answer, by the id of the question. */
const waiting = new Map<string, (answer: unknown) => void>()
const calls: string[] = []

/** `environment`: of the gateway. */
export async function startDemo(environment: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const [provider, mcp] = [
    createServer((request, response) => void serveModel(request, response)),
    createServer((request, response) => void serveMcp(request, response)),
  ]
  const servers: readonly Server[] = [provider, mcp]
  const limiter = await startLimiter()
  const ports = { provider: await listening(provider), mcp: await listening(mcp), limiter: limiter.port }
  const ui = await startUi(fileOf(ports), environment)
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
        await fetch(`${ui.gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { ...headers, authorization: 'Bearer key-of-ann' },
          body,
        }),
      ]
      for (const answer of answers) await answer.text()
    },
    calls: () => calls,
    stop: async () => {
      await ui.stop()
      for (const server of servers) closeServer(server)
      limiter.kill()
    },
  }
}

interface Ports {
  readonly provider: number
  readonly mcp: number
  readonly limiter: number
}

/** Clients may send a key; each has a limit of tokens and a budget. */
function modelPolicies({ limiter }: Ports): object {
  return {
    apiKey: { mode: 'permissive', keys: [{ key: 'key-of-ann', metadata: { name: 'ann' } }] },
    localRateLimit: [{ maxTokens: 1_000_000, tokensPerFill: 1_000_000, fillInterval: '1h', type: 'tokens' }],
    remoteRateLimit: {
      host: `127.0.0.1:${limiter}`,
      domain: 'budgets',
      descriptors: [
        {
          entries: [{ key: 'key', value: 'default(apiKey.name, "none")' }],
          type: 'tokens',
          cost: 'math.ceil(llm.cost.total * 1000000.0)',
        },
      ],
    },
  }
}

function fileOf(ports: Ports): string {
  const { provider, mcp } = ports
  const file = {
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
      {
        name: 'carts',
        matches: [{ path: { pathPrefix: '/carts' } }],
        backends: [
          {
            host: '127.0.0.1:9',
            policies: { health: { eviction: { duration: '1s', consecutiveFailures: 2 } } },
          },
        ],
      },
      {
        name: 'pets',
        matches: [{ path: { exact: '/pets/mcp' } }],
        backends: [
          {
            mcp: {
              targets: [
                { name: 'pets', openapi: { schema: JSON.stringify(PETS), host: 'http://127.0.0.1:9' } },
                { name: 'files', stdio: { cmd: 'mcp-files' } },
              ],
            },
          },
        ],
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
      policies: modelPolicies(ports),
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
    mcp: {
      gateways: 'default',
      policies: { mcpAuthorization: { rules: [{ deny: 'mcp.tool.name.startsWith("ask") && jwt.sub == "guest"' }] } },
      targets: [{ name: 'weather', mcp: { host: `http://127.0.0.1:${mcp}/mcp` } }],
    },
  }
  return JSON.stringify(file, undefined, 2).replace('"PORT"', 'PORT')
}

/** Of JSON-RPC. */
interface Call {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: { readonly place?: string } }
  /** Of a question of this server. */
  readonly result?: unknown
}

async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    calls.push(request.method ?? '')
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    return
  }
  const call = JSON.parse(await text(request)) as Call // of the gateway
  calls.push(call.method ?? 'answer')
  if (call.method === undefined) waiting.get(String(call.id))?.(call.result)
  if (call.method === undefined || call.id === undefined) response.writeHead(202).end()
  else answer({ ...call, id: call.id, method: call.method }, response)
}

function answer({ id, method, params = {} }: Call & Required<Pick<Call, 'id' | 'method'>>, response: ServerResponse) {
  const { name = '', arguments: { place = '' } = {} } = params
  const question = method === 'tools/call' ? QUESTIONS[name] : undefined
  if (question === undefined) answerCall(id, method, place, response)
  else askClient(id, question, response)
}

function answerCall(id: number | string, method: string, place: string, response: ServerResponse): void {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'weather', version: '1' },
    },
    'tools/list': { tools: TOOLS },
    'tools/call': { content: [{ type: 'text', text: `Rain in ${place}` }] },
  }
  const result = results[method]
  const rest = result === undefined ? { error: { code: -32_601, message: 'unknown method' } } : { result }
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...rest })
  const session = method === 'initialize' ? { 'mcp-session-id': 'demo' } : {}
  response.writeHead(200, { 'content-type': 'application/json', ...session }).end(body)
}

/** Asks in the stream of the call, and ends it with the answer as its result. */
function askClient(id: number | string, question: object, response: ServerResponse): void {
  const own = `question-${waiting.size}`
  const send = (message: object): boolean =>
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  waiting.set(own, (answer) => {
    send({ id, result: { content: [{ type: 'text', text: JSON.stringify(answer ?? 'declined') }] } })
    response.end()
  })
  send({ id: own, ...question })
}
