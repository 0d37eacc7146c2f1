// The `llm` section: official SDKs call its models, and mistakes have their place in the file.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { reset, scriptedUpstream, type ScriptedUpstream, status } from '../../backend/scripted-upstream.testing.ts'
import { VENDORS } from '../../llm/translate/vendors.testing.ts'
import { loadStandalone } from './load.ts'

const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 3, cached: 0, output: 2 } } as const
const JSON_TYPE = { 'content-type': 'application/json' }

let realtime: Server
let sockets: WebSocketServer
let opened: IncomingMessage | undefined
let openai: ScriptedUpstream
let claude: ScriptedUpstream
let proxy: RunningProxy
let port: number

const load = (text: string) => loadStandalone({ path: 'gw.yaml', text, environment: {} })

beforeAll(async () => {
  openai = await scriptedUpstream(status(200, JSON_TYPE, JSON.stringify(VENDORS.Completions.whole(SCENARIO))))
  claude = await scriptedUpstream(status(200, JSON_TYPE, JSON.stringify(VENDORS.Messages.whole(SCENARIO))))
  realtime = createServer()
  sockets = new WebSocketServer({ server: realtime })
  sockets.on('connection', (socket, request) => {
    opened = request
    socket.on('message', (data: Buffer) => socket.send(data.toString()))
  })
  const realtimePort = await listening(realtime)
  port = await freePort()
  const { rendered, problems } = load(`
llm:
  port: ${port}
  policies: { apiKey: { keys: [{ key: team }] } }
  providers:
    - name: openai
      provider: openai
      params: { apiKey: sk-openai, baseUrl: "http://127.0.0.1:${openai.port}" }
  models:
    - { name: fast, provider: { reference: openai }, params: { model: gpt-mini }, defaults: { max_tokens: 9 } }
    - { name: gone, provider: openai, params: { baseUrl: "http://127.0.0.1:${await freePort()}" } }
    - name: claude-*
      provider: anthropic
      params: { apiKey: sk-claude, baseUrl: "http://127.0.0.1:${claude.port}/v1" }
    - { name: hidden, visibility: internal, provider: { reference: openai } }
    - name: talk-*
      provider: openai
      params: { apiKey: sk-talk, baseUrl: "http://127.0.0.1:${realtimePort}/v1" }
    - name: guarded
      provider: openai
      params: { apiKey: sk-talk, baseUrl: "http://127.0.0.1:${realtimePort}/v1" }
      guardrails: { streaming: Enabled, response: [{ regex: { rules: [{ builtin: email }] } }] }
    - name: test-*
      provider: { reference: openai }
      params: { model: gpt-beta }
      matches: [{ headers: [{ name: X-Beta, value: { exact: "1" } }] }, { headers: [{ name: x-team, value: { regex: "b|c" } }] }]
    - { name: test-*, provider: { reference: openai }, params: { model: gpt-stable } }
    - name: staff
      provider: { reference: openai }
      authorization: { rules: ['request.headers["x-team"] == "a"', 'request.headers["x-team"] == "b"'] }
  virtualModels:
    - name: steady
      routing: { failover: { targets: [{ model: gone, priority: 1 }, { model: claude-x, priority: 2 }] } }
    - name: spoken
      routing: { weighted: { targets: [{ model: talk-2 }] } }
    - name: chosen
      routing: { conditional: { targets: [{ model: claude-y, when: "llmRequest.n > 1" }, { model: hidden }] } }
`)
  if (rendered === undefined) throw new Error(JSON.stringify(problems))
  proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  openai.stop()
  claude.stop()
  sockets.close()
  closeServer(realtime)
})

const client = (headers: Record<string, string> = {}): OpenAI =>
  new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'team', maxRetries: 0, defaultHeaders: headers })

async function answerOf(model: string, more: { n?: number; headers?: Record<string, string> } = {}): Promise<unknown> {
  const { headers, ...fields } = more
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const reply = await client(headers).chat.completions.create({ model, messages, ...fields })
  return reply.choices[0]?.message.content
}

describe('models of a file', () => {
  it('have the provider, credential and edits of their settings', async () => {
    expect(await answerOf('fast')).toBe('hello')
    expect(openai.seen.at(-1)).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-openai' },
    })
    expect(JSON.parse(openai.seen.at(-1)?.body ?? '')).toMatchObject({ model: 'gpt-mini', max_tokens: 9 })
  })

  it('are found by pattern, and translated', async () => {
    expect(await answerOf('claude-opus')).toBe('hello')
    expect(claude.seen.at(-1)).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': 'sk-claude' } })
  })

  it.each([
    [{}, 'gpt-stable'],
    [{ 'x-beta': '0' }, 'gpt-stable'],
    [{ 'x-beta': '1' }, 'gpt-beta'],
    [{ 'x-team': 'c' }, 'gpt-beta'],
  ])('are selected by header fields: %j', async (headers, model) => {
    expect(await answerOf('test-1', { headers })).toBe('hello')
    expect(JSON.parse(openai.seen.at(-1)?.body ?? '')).toMatchObject({ model })
  })

  it('are listed, without hidden ones', async () => {
    const names: string[] = []
    for await (const { id } of client({ 'x-team': 'a' }).models.list()) names.push(id)
    expect(names).toEqual(['steady', 'spoken', 'chosen', 'fast', 'gone', 'guarded', 'staff'])
  })

  it('are refused to clients that no rule allows, and to those without a key', async () => {
    await expect(answerOf('staff')).rejects.toMatchObject({ status: 403, code: 'model_authorization_denied' })
    expect(await answerOf('staff', { headers: { 'x-team': 'b' } })).toBe('hello')
    await expect(answerOf('hidden')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
    await expect(answerOf('fast', { headers: { authorization: 'Bearer x' } })).rejects.toMatchObject({ status: 401 })
  })
})

describe('a Realtime session with a model of a file', () => {
  /** The first message that comes back; or the status and body of a rejection. */
  const talk = (query: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: 'Bearer team' }
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime${query}`, { headers })
      socket.on('open', () => socket.send('{"type":"session.update"}'))
      socket.on('message', (data: Buffer) => {
        socket.close()
        resolve(data.toString())
      })
      socket.on('error', reject)
      socket.on('unexpected-response', (_, response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve([response.statusCode, text]))
      })
    })

  it.each([
    ['?model=talk-1', '/v1/realtime?model=talk-1'],
    ['?model=spoken', '/v1/realtime?model=talk-2'],
    ['?model=guarded', '/v1/realtime?model=guarded'],
  ])('reaches the provider of the model with its key: %s', async (query, sent) => {
    expect(await talk(query)).toBe('{"type":"session.update"}')
    expect(opened).toMatchObject({ url: sent, headers: { authorization: 'Bearer sk-talk' } })
  })

  it.each([
    ['', 400, '"code":"missing_model"'],
    ['?model=other', 404, '"code":"model_not_found"'],
    ['?model=staff', 403, '"code":"model_authorization_denied"'],
    ['?model=claude-1', 400, 'unsupported conversion: from Realtime to provider anthropic'],
  ])('is rejected: %s', async (query, code, cause) => {
    opened = undefined
    expect(await talk(query)).toEqual([code, expect.stringContaining(cause)])
    expect(opened).toBeUndefined()
  })
})

describe('virtual models of a file', () => {
  it('fail over within a request', async () => {
    expect(await answerOf('steady')).toBe('hello')
    expect(JSON.parse(claude.seen.at(-1)?.body ?? '')).toMatchObject({ model: 'claude-x' })
  })

  it('select by condition', async () => {
    expect(await answerOf('chosen', { n: 1 })).toBe('hello')
    expect(JSON.parse(openai.seen.at(-1)?.body ?? '')).toMatchObject({ model: 'hidden' })
    openai.script = reset
    await expect(answerOf('chosen', { n: 1 })).rejects.toMatchObject({ status: 503 })
  })
})

const MODEL = 'models: [{ name: m, provider: openai }]'

describe('mistakes in the section', () => {
  it.each([
    ['llm: {}', /llm\.models: is required/],
    [`llm: { port: 1, gateways: a, ${MODEL} }`, /llm\.port: must not be set together with llm\.gateways/],
    ['llm: { models: [{ name: "a*b", provider: openai }] }', /models\[0\]\.name: must have at most one \*/],
    ['llm: { models: [{ name: m, provider: opnai }] }', /models\[0\]\.provider: must be one of openai/],
    ['llm: { models: [{ name: m, provider: { reference: x } }] }', /provider\.reference: there is no provider x/],
    ['llm: { models: [{ name: m, provider: vertex }] }', /vertexProject|is required with the provider vertex/],
    [
      'llm: { models: [{ name: m, provider: { custom: { formats: [{ type: completions }] } } }] }',
      /is required with the provider custom: the address/,
    ],
    ['llm: { models: [{ name: m, provider: { custom: { formats: [{ type: completions }] } } }] }', /provider custom/],
    ['llm: { models: [{ name: m, provider: openai, params: { baseUrl: ftp://a } }] }', /must be a URL with http/],
    [
      'llm: { models: [{ name: m, provider: openai, params: { baseUrl: "http://a", hostOverride: "a:1" } }] }',
      /params\.hostOverride: must not be set together with baseUrl/,
    ],
    [
      'llm: { models: [{ name: m, provider: openai, auth: a, params: { apiKey: b } }] }',
      /apiKey: must not be set together/,
    ],
    [
      'llm: { models: [{ name: m, provider: openai, tls: {}, backendTLS: {} }] }',
      /tls: is the same field as backendTLS/,
    ],
    ['llm: { models: [{ name: m, provider: openai, matches: [] }] }', /models\[0\]\.matches: /],
    ['llm: { models: [{ name: m, provider: openai, matches: [{}] }] }', /matches\[0\]\.headers: is required/],
    [
      'llm: { models: [{ name: m, provider: openai, matches: [{ headers: [{ name: "a b", value: { exact: c } }] }] }] }',
      /matches\[0\]\.headers\[0\]\.name: /,
    ],
    ['llm: { models: [{ name: m, provider: openai, matches: [{ path: { exact: /a } }] }] }', /matches\[0\]\.path: /],
    [
      `llm: { ${MODEL}, providers: [{ name: a, provider: openai }, { name: a, provider: gemini }] }`,
      /providers\[1\]\.name: provider a already exists/,
    ],
    [
      `llm: { ${MODEL}, virtualModels: [{ name: v, routing: { weighted: { targets: [{ model: x }] } } }] }`,
      /targets\[0\]\.model: no model matches x/,
    ],
    [`llm: { ${MODEL}, virtualModels: [{ name: v, routing: {} }] }`, /must have exactly one of weighted, failover/],
  ])('%s', (text, message) => {
    const { rendered, problems } = load(text)
    expect(rendered).toBeUndefined()
    expect(problems.map((problem) => `${problem.path}: ${problem.message}`).join('\n')).toMatch(message)
  })

  it('a key that is not set is reported before the start', () => {
    const { problems } = load('llm: { models: [{ name: m, provider: openai, params: { apiKey: $OPENAI_API_KEY } }] }')
    expect(problems).toMatchObject([
      { severity: 'error', message: expect.stringContaining('OPENAI_API_KEY') as string },
    ])
  })
})
