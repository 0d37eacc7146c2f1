// Prompt guards in front of models, through a real proxy: requests and whole answers of the formats of clients.
import { createServer, type Server } from 'node:http'
import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AIProvider, PromptGuard, RouteType } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const REJECTION = { status: 422, body: 'not here', headers: [{ name: 'x-guard', value: 'yes' }] }
const MASK: NonNullable<PromptGuard['request']>[number] = {
  rejection: REJECTION,
  regex: { action: 'Mask', builtins: ['Email', 'Ssn'], patterns: ['secret-[0-9]+'] },
}
const REJECT: typeof MASK = { rejection: REJECTION, regex: { action: 'Reject', patterns: ['(?i)forbidden'] } }
const BROKEN: typeof MASK = {
  rejection: REJECTION,
  moderationApi: { policies: { auth: { key: { secret: 'a/b/c' } } } },
}

interface Answer {
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  readonly body: string | Buffer
}

let upstream: Server
let gateway: TestProxy
let sent: string | undefined
let answer: Answer

const ROUTES: Readonly<Record<string, RouteType>> = {
  '/chat/completions': 'Completions',
  '/v1/messages': 'Messages',
  '/messages': 'Messages',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
  '/detect': 'Detect',
  '*': 'Passthrough',
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      sent = Buffer.concat(chunks).toString('utf8')
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      response.end(answer.body)
    })
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  const route = (name: string, provider: AIProvider['provider'], promptGuard: PromptGuard) => ({
    name,
    prefix: `/${name}`,
    backend: {
      ai: { groups: [{ providers: [{ name: 'backend', provider, hostOverride }] }] },
      inlinePolicies: { ai: { routes: { ...ROUTES }, promptGuard } },
    },
  })
  gateway = await testProxy({
    routes: [
      route('openai', { openai: {} }, { request: [MASK, REJECT], response: [MASK] }),
      route('claude', { anthropic: {} }, { request: [MASK, REJECT], response: [MASK] }),
      route('broken', { openai: {} }, { request: [BROKEN] }),
      route('streaming', { openai: {} }, { streaming: true, response: [MASK] }),
      route('failing', { openai: {} }, { streaming: true, response: [BROKEN] }),
      route('quiet', { openai: {} }, { response: [BROKEN] }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const post = async (path: string, body: unknown): Promise<Response> => {
  sent = undefined
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
}

const completion = (content: string, more: object = {}): string =>
  JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'mail to a@b.co' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2 },
}

/** In the format of the client. */
const FAILED = JSON.stringify({
  error: { message: 'prompt guard failed', type: 'api_error', param: null, code: null },
})

const chat = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })

describe('guards of requests', () => {
  it('mask texts and keep all other bytes', async () => {
    answer = { body: completion('ok') }
    const before =
      '{"model":"m", "seed":12345678901234567890, "messages":[ {"role":"user","content":"I am a@b.co","n":1.0} ]}'
    expect((await post('/openai/chat/completions', before)).status).toBe(200)
    expect(sent).toBe(before.replace('a@b.co', '<EMAIL_ADDRESS>'))
  })

  it('send the bytes of a request without a match unchanged', async () => {
    answer = { body: completion('ok') }
    const before = '{ "messages":[{"role":"user" ,"content":"nothing\\u0021"}], "model":"m","top_p":1.0 }'
    await post('/openai/chat/completions', before)
    expect(sent).toBe(before)
  })

  it('mask what is translated for the provider', async () => {
    answer = { body: JSON.stringify(MESSAGE) }
    const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{"ssn":"078-05-1120"}' } }
    const response = await post('/claude/chat/completions', {
      model: 'm',
      messages: [
        { role: 'system', content: 'secret-1' },
        { role: 'user', content: 'x@y.zz' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: '1', content: 'secret-2' },
      ],
    })
    expect(response.status).toBe(200)
    expect(JSON.parse(sent ?? '')).toMatchObject({
      system: '<masked>',
      messages: [
        { content: [{ text: '<EMAIL_ADDRESS>' }] },
        { content: [{ type: 'tool_use', input: { ssn: '<SSN>' } }] },
        { content: [{ type: 'tool_result', content: '<masked>' }] },
      ],
    })
  })

  it.each([
    ['/openai/chat/completions', chat('a Forbidden word')],
    [
      '/claude/messages',
      { model: 'm', max_tokens: 9, system: 'forbidden', messages: [{ role: 'user', content: 'x' }] },
    ],
    ['/openai/responses', { model: 'm', input: [{ type: 'function_call_output', call_id: '1', output: 'FORBIDDEN' }] }],
  ])('reject %s with the response of the policy', async (path, body) => {
    const response = await post(path, body)
    expect([response.status, await response.text()]).toEqual([422, 'not here'])
    expect(response.headers.get('x-guard')).toBe('yes')
    expect(response.headers.get('content-type')).toBeNull()
    expect(sent).toBeUndefined()
  })

  it('answer 503 if a guard has no verdict', async () => {
    const response = await post('/broken/chat/completions', chat('hello'))
    expect([response.status, await response.text()]).toEqual([503, FAILED])
    expect(sent).toBeUndefined()
  })

  it.each(['/openai/embeddings', '/openai/detect', '/openai/other'])('do not check %s', async (path) => {
    answer = { body: '{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}' }
    const body = { model: 'm', input: 'forbidden a@b.co', messages: [{ role: 'user', content: 'forbidden' }] }
    expect((await post(path, body)).status).toBe(200)
    expect(sent).toContain('forbidden a@b.co')
  })
})

describe('guards of responses', () => {
  it.each<[string, Answer['headers'], (text: string) => string | Buffer]>([
    ['plain', {}, (text) => text],
    ['gzip', { 'content-encoding': 'gzip' }, (text) => gzipSync(text)],
  ])('mask an answer (%s) and keep all other bytes', async (_, headers = {}, encode) => {
    const before = completion('mail to a@b.co').replace('"created":1', '"created" : 1.0')
    answer = { headers, body: encode(before) }
    const response = await post('/openai/chat/completions', chat('hi'))
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(before.replace('a@b.co', '<EMAIL_ADDRESS>'))
  })

  it('mask an answer that was translated', async () => {
    const content = [...MESSAGE.content, { type: 'tool_use', id: 't', name: 'f', input: { who: 'c@d.ee', n: 1 } }]
    answer = { body: JSON.stringify({ ...MESSAGE, content }) }
    expect(await (await post('/claude/chat/completions', chat('hi'))).json()).toMatchObject({
      choices: [
        {
          message: {
            content: 'mail to <EMAIL_ADDRESS>',
            tool_calls: [{ function: { arguments: '{"who":"<EMAIL_ADDRESS>","n":1}' } }],
          },
        },
      ],
    })
  })

  it('reject an answer that is larger than the limit', async () => {
    answer = { body: completion('x'.repeat(17 * 2 ** 20)) }
    const response = await post('/openai/chat/completions', chat('hi'))
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('failed to process LLM response')
  })

  it('answer 503 if a guard has no verdict, and never with the answer of the provider', async () => {
    answer = { body: completion('private') }
    const response = await post('/quiet/chat/completions', chat('hi'))
    expect([response.status, await response.text()]).toEqual([503, FAILED])
  })

  it('do not check errors of the provider', async () => {
    const body = '{"error":{"message":"write to help@b.co","type":"x"}}'
    answer = { status: 429, body }
    const response = await post('/openai/chat/completions', chat('hi'))
    expect([response.status, await response.text()]).toEqual([429, body])
  })
})

describe('guards of streams', () => {
  const EVENTS = { 'content-type': 'text/event-stream' }
  const delta = (content: string): string =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const END =
    'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
  const stream = (content: string) => ({ ...chat(content), stream: true })

  it('mask texts in events', async () => {
    answer = { headers: EVENTS, body: delta('mail a@') + delta('b.co now') + END }
    const response = await post('/streaming/chat/completions', stream('hi'))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const text = await response.text()
    expect(text).toBe(delta('mail <EMAIL_ADDRESS>') + delta(' now') + END)
  })

  it('mask texts of a stream that is translated, and of an answer that is sent as a stream', async () => {
    answer = { headers: EVENTS, body: delta('mail a@') + delta('b.co now') + END }
    const message = { ...stream('hi'), max_tokens: 9 }
    expect(await (await post('/streaming/messages', message)).text()).toContain('"text":"mail <EMAIL_ADDRESS>"')
    answer = { body: completion('mail a@b.co now') }
    const whole = await (await post('/streaming/messages', message)).text()
    expect(whole).toContain('mail <EMAIL_ADDRESS> now')
    expect(whole).toContain('event: message_stop')
  })

  it.each([
    ['/streaming/chat/completions', `data: ${FAILED}\n\n`],
    [
      '/streaming/messages',
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"prompt guard failed"}}\n\n',
    ],
  ])('end %s with an error event if a guard fails, without the texts that were held', async (path, expected) => {
    answer = { headers: EVENTS, body: delta('private '.repeat(40)) + END }
    const response = await post(path.replace('streaming', 'failing'), { ...stream('hi'), max_tokens: 9 })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text.endsWith(expected)).toBe(true)
    expect(text).not.toContain('private')
  })

  it('mask streams that the SDKs of OpenAI and Anthropic accept', async () => {
    const call = (text: string): string =>
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 't', type: 'function', function: { name: 'f', arguments: text } }] } }] })}\n\n`
    const role = 'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    const body = role + delta('mail a@') + delta('b.co now') + call('{"to":"secr') + call('et-1"}') + END
    answer = { headers: EVENTS, body }
    const anthropic = new Anthropic({ baseURL: `${gateway.url}/streaming`, apiKey: 'x', maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const message = await anthropic.messages.stream({ model: 'm', max_tokens: 9, messages }).finalMessage()
    expect(message.content).toMatchObject([
      { type: 'text', text: 'mail <EMAIL_ADDRESS> now' },
      { type: 'tool_use', name: 'f', input: { to: '<masked>' } },
    ])
    const openai = new OpenAI({ baseURL: `${gateway.url}/streaming`, apiKey: 'x', maxRetries: 0 })
    const completion = await openai.chat.completions.stream({ model: 'm', messages }).finalChatCompletion()
    expect(completion.choices[0]?.message).toMatchObject({
      content: 'mail <EMAIL_ADDRESS> now',
      tool_calls: [{ function: { arguments: '{"to":"<masked>"}' } }],
    })
    answer = { headers: EVENTS, body: responseEvents('mail a@b.co now') }
    const response = await openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(response.output_text).toBe('mail <EMAIL_ADDRESS> now')
  })

  it('leave streams alone without `streaming`', async () => {
    answer = { headers: EVENTS, body: delta('mail a@b.co') + END }
    expect(await (await post('/openai/chat/completions', stream('hi'))).text()).toBe(delta('mail a@b.co') + END)
  })
})

/** A stream in the format responses, which repeats its text in four events. */
function responseEvents(text: string): string {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
  const empty = { ...item, status: 'in_progress', content: [] }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
  const events: readonly (readonly [string, object])[] = [
    ['response.created', { response }],
    ['response.output_item.added', { output_index: 0, item: empty }],
    ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
    ...(text.match(/[^]{1,5}/g) ?? []).map((delta) => ['response.output_text.delta', { ...at, delta }] as const),
    ['response.output_text.done', { ...at, text }],
    ['response.content_part.done', { ...at, part }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: { ...response, status: 'completed', output: [item], usage } }],
  ]
  return events
    .map(
      ([type, more], index) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: index, ...more })}\n\n`,
    )
    .join('')
}
