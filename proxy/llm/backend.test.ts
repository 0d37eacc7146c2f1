import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

interface Seen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

let upstream: Server
let gateway: TestProxy
let seen: Seen | undefined
let answer: (request: IncomingMessage, response: ServerResponse) => void

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2 },
}

const json = (status: number, body: unknown) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const stream = (chunks: readonly string[], end: 'end' | 'destroy' = 'end') => {
  return (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks) response.write(chunk)
    if (end === 'end') response.end()
    else setImmediate(() => response.destroy())
  }
}

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

const DEEP = 'failed to process LLM request: the JSON is nested deeper than 128 levels'
const MANY = 'failed to process LLM request: the JSON has more than 100000 objects, arrays and members'

const chat = (extra: object = {}): string =>
  JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'hi' }], ...extra })

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      seen = { path: request.url ?? '', headers: request.headers, body: text === '' ? undefined : JSON.parse(text) }
      answer(request, response)
    })
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  const ai = { modelAliases: { fast: 'real-model', 'gpt-*': 'wild' } }
  gateway = await testProxy({
    secrets: { 'ns/keys/k': 'sk-test' },
    routes: [
      {
        name: 'openai',
        prefix: '/v1',
        backend: {
          ai: { groups: [{ providers: [{ name: 'backend', provider: { openai: {} }, hostOverride }] }] },
          inlinePolicies: { auth: { key: { secret: 'ns/keys/k' } }, ai },
        },
      },
      {
        name: 'claude',
        prefix: '/claude',
        backend: {
          ai: {
            groups: [
              { providers: [{ name: 'backend', provider: { anthropic: {} }, hostOverride, pathPrefix: '/v1' }] },
            ],
          },
          inlinePolicies: {
            auth: { key: { secret: 'ns/keys/k' } },
            ai: {
              ...ai,
              routes: {
                '/v1/messages': 'Messages',
                '/v1/models': 'Models',
                '/files': 'Passthrough',
                '/emb': 'Embeddings',
              },
              defaults: [{ field: 'max_tokens', value: 77 }],
              overrides: [{ field: 'temperature', value: 0.5 }],
              transformations: [{ name: 'user', expression: 'llmRequest.model + "-user"' }],
              prompt: { prepend: [{ role: 'system', content: 'be brief' }] },
            },
          },
        },
      },
      {
        name: 'keyless',
        prefix: '/keyless',
        backend: {
          ai: { groups: [{ providers: [{ name: 'backend', provider: { openai: {} }, hostOverride }] }] },
          inlinePolicies: { auth: { key: { secret: 'ns/keys/none' } } },
        },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

describe('completions provider', () => {
  it('serves the official SDK, with the key of the Secret and the alias of the model', async () => {
    answer = json(200, {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'real-model-2',
      choices: [{ index: 0, message: { role: 'assistant', content: 'yo' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'client-key', maxRetries: 0 })
    const reply = await client.chat.completions.create({ model: 'fast', messages: [{ role: 'user', content: 'hi' }] })
    expect(reply.choices[0]?.message.content).toBe('yo')
    expect(seen?.path).toBe('/v1/chat/completions')
    expect(seen?.headers.authorization).toBe('Bearer sk-test')
    expect(seen?.body).toEqual({ model: 'real-model', messages: [{ role: 'user', content: 'hi' }] })
  })

  it('requests usage for streams and forwards their bytes unchanged', async () => {
    const text =
      'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[],"usage":{"total_tokens":9}}\n\ndata: [DONE]\n\n'
    answer = stream([text.slice(0, 20), text.slice(20)])
    const reply = await post('/v1/chat/completions', chat({ stream: true, stream_options: { x: 1 } }))
    expect(await reply.text()).toBe(text)
    expect(seen?.body).toMatchObject({ stream_options: { x: 1, include_usage: true } })
  })

  it('forwards provider errors unchanged', async () => {
    const error = { error: { message: 'no', type: 'invalid_request_error', param: null, code: 'x' } }
    answer = json(429, error)
    const reply = await post('/v1/chat/completions', chat())
    expect(reply.status).toBe(429)
    expect(await reply.json()).toEqual(error)
  })

  it('decodes compressed requests', async () => {
    answer = json(200, { choices: [] })
    const reply = await post('/v1/chat/completions', gzipSync(chat()), { 'content-encoding': 'gzip' })
    expect(reply.status).toBe(200)
    expect(seen?.body).toMatchObject({ model: 'real-model' })
    expect(seen?.headers['content-encoding']).toBeUndefined()
  })

  it('decodes compressed responses', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' })
      response.end(brotliCompressSync('{"choices":[]}'))
    }
    expect(await (await post('/v1/chat/completions', chat())).json()).toEqual({ choices: [] })
  })

  it.each([
    ['{', 400, 'failed to process LLM request: the body is not a JSON object'],
    ['[]', 400, 'failed to process LLM request: the body is not a JSON object'],
    ['{"model":"m","x":'.padEnd(20_000, '['), 400, DEEP],
    ['['.repeat(2_000_000), 400, DEEP],
    [`{"model":"m","x":[${'{},'.repeat(100_000)}0]}`, 400, MANY],
    ['{"messages":[]}', 400, 'failed to process LLM request: missing field: model not specified'],
  ])('refuses the body %.40s', async (body, status, text) => {
    const reply = await post('/v1/chat/completions', body)
    expect(reply.status).toBe(status)
    expect(await reply.json()).toMatchObject({ error: { message: text, type: 'invalid_request_error' } })
  })

  it('rejects unknown encodings, and bodies that are too large after decoding', async () => {
    const unknown = await post('/v1/chat/completions', chat(), { 'content-encoding': 'rot13' })
    expect(unknown.status).toBe(415)
    const bomb = await post('/v1/chat/completions', gzipSync(Buffer.alloc(3_000_000)), { 'content-encoding': 'gzip' })
    expect(bomb.status).toBe(413)
    const large = await post('/v1/chat/completions', Buffer.alloc(2_097_153, 0x20))
    expect(large.status).toBe(413)
  })

  it('returns 502 for a provider with another format', async () => {
    answer = (_, response) => response.end('<html>')
    const reply = await post('/v1/chat/completions', chat())
    expect(reply.status).toBe(502)
    expect(await reply.text()).toContain('failed to process LLM response')
  })

  it('returns 502 for a provider whose response is nested too deeply', async () => {
    answer = (_, response) => response.end('{"choices":'.padEnd(20_000, '['))
    const reply = await post('/v1/chat/completions', chat())
    expect(reply.status).toBe(502)
    const message = 'failed to process LLM response: the JSON is nested deeper than 128 levels'
    expect(await reply.json()).toMatchObject({ error: { message, type: 'api_error' } })
  })

  it('does not call the provider without the key', async () => {
    seen = undefined
    const reply = await post('/keyless/v1/chat/completions', chat())
    expect(reply.status).toBe(500)
    const message = 'backend authentication failed: the credential is missing or unusable'
    expect(await reply.json()).toMatchObject({ error: { message } })
    expect(seen).toBeUndefined()
  })
})

describe('messages provider', () => {
  it('serves the completions SDK by translation, with all edits applied', async () => {
    answer = json(200, MESSAGE)
    const client = new OpenAI({ baseURL: `${gateway.url}/claude/v1`, apiKey: 'client-key', maxRetries: 0 })
    const reply = await client.chat.completions.create({ model: 'gpt-4', messages: [{ role: 'user', content: 'hi' }] })
    expect(reply.choices[0]).toMatchObject({ message: { content: 'hello' }, finish_reason: 'stop' })
    expect(reply.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 })
    expect(seen?.path).toBe('/v1/messages')
    expect(seen?.headers).toMatchObject({ 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' })
    expect(seen?.headers.authorization).toBeUndefined()
    expect(seen?.body).toEqual({
      model: 'wild',
      max_tokens: 77,
      temperature: 0.5,
      system: 'be brief',
      metadata: { user_id: 'gpt-4-user' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    })
  })

  it('serves the messages SDK without translation', async () => {
    answer = json(200, MESSAGE)
    const client = new Anthropic({ baseURL: `${gateway.url}/claude`, apiKey: 'client-key', maxRetries: 0 })
    const reply = await client.messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(reply.content).toEqual([{ type: 'text', text: 'hello' }])
    expect(seen?.body).toMatchObject({ max_tokens: 9, system: 'be brief' })
  })

  it('translates streams for the completions SDK', async () => {
    const event = (type: string, rest: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    answer = stream([
      event('message_start', { message: { ...MESSAGE, content: [] } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'he' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'llo' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      event('message_stop', {}),
    ])
    const client = new OpenAI({ baseURL: `${gateway.url}/claude/v1`, apiKey: 'x', maxRetries: 0 })
    const chunks = await client.chat.completions.create({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'hi' }],
    })
    let text = ''
    let total: number | undefined
    for await (const chunk of chunks) {
      text += chunk.choices[0]?.delta.content ?? ''
      total = chunk.usage?.total_tokens ?? total
    }
    expect(text).toBe('hello')
    expect(total).toBe(7)
  })

  it('sends an error in the format of the client if the stream breaks', async () => {
    answer = stream(['event: message_start\ndata: {"type":"message_start","message":{}}\n\n'], 'destroy')
    const translated = await (await post('/claude/v1/chat/completions', chat({ stream: true }))).text()
    expect(translated).toContain('"error"')
    expect(translated).not.toContain('[DONE]')
    const plain = await (await post('/claude/v1/messages', chat({ stream: true }))).text()
    expect(plain).toContain('event: error\ndata: {"type":"error"')
  })

  it('translates errors, and returns 502 for other bodies', async () => {
    answer = json(529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } })
    const reply = await post('/claude/v1/chat/completions', chat())
    expect(reply.status).toBe(529)
    expect(await reply.json()).toEqual({
      error: { message: 'busy', type: 'overloaded_error', param: null, code: null },
    })
    answer = json(500, { oops: 1 })
    expect((await post('/claude/v1/chat/completions', chat())).status).toBe(502)
  })

  it('handles models, passthrough and formats that the provider does not have', async () => {
    const models = await fetch(`${gateway.url}/claude/v1/models`)
    expect(models.status).toBe(501)
    expect(await models.json()).toEqual({ error: "Route 'Models' not implemented" })
    answer = json(200, { any: 1 })
    const files = await post('/claude/files?x=1', '{"raw":true}')
    expect(files.status).toBe(200)
    expect(seen).toMatchObject({ path: '/claude/files?x=1', body: { raw: true } })
    const embeddings = await post('/claude/emb', '{"model":"m","input":"x"}')
    expect(embeddings.status).toBe(400)
    expect(await embeddings.text()).toContain('unsupported conversion: from Embeddings to provider anthropic')
  })
})
