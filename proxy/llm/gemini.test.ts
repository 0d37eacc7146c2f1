// The provider Gemini: official clients of OpenAI, Anthropic and Google before an emulator of the Gemini API.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { parseObject, type JsonObject } from './json.ts'
import { SCENARIOS, VENDORS, type Scenario } from './translate/vendors.testing.ts'

interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
}

let upstream: Server
let upstreamUrl: string
let gateway: TestProxy
let asked: Asked[] = []
let scenario: Scenario
let failure: { readonly status: number; readonly body: JsonObject } | undefined

const KEY = 'AIza-test'
const SAYS_HI: Scenario = { text: 'hi', stop: 'stop', usage: { input: 3, cached: 0, output: 1 } }

/** What Google answers at the paths of its documentation, and 404 at all others. */
function emulate({ path }: Asked, response: ServerResponse): void {
  const vendor = VENDORS.GenerateContent
  const known = /^\/v1beta\/models\/gemini-3-pro:(?:g|streamG)enerateContent(?:\?alt=sse)?$/
  if (!known.test(path)) failure ??= { status: 404, body: vendor.error(`no ${path}`) }
  if (failure !== undefined) {
    response.writeHead(failure.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(failure.body))
  } else if (path.includes('alt=sse')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(vendor.stream(scenario).join(''))
  } else {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(vendor.whole(scenario)))
  }
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url = '', headers } = request
      const one = { path: url, headers, body: parseObject(Buffer.concat(chunks).toString('utf8')) ?? {} }
      asked.push(one)
      emulate(one, response)
    })
  })
  const port = await listening(upstream)
  upstreamUrl = `http://127.0.0.1:${port}`
  const provider = { name: 'p', provider: { gemini: {} }, hostOverride: { host: '127.0.0.1', port } }
  gateway = await testProxy({
    routes: [
      {
        name: 'gemini',
        prefix: '/',
        backend: {
          ai: { groups: [{ providers: [provider] }] },
          inlinePolicies: { ai: { routes: { '/v1/messages': 'Messages', '/v1/responses': 'Responses' } } },
        },
      },
    ],
  })
})

beforeEach(() => {
  asked = []
  failure = undefined
  scenario = SAYS_HI
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const openai = () => new OpenAI({ apiKey: KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
const anthropic = () => new Anthropic({ authToken: KEY, apiKey: null, baseURL: gateway.url, maxRetries: 0 })
const MODEL = 'gemini-3-pro'
const messages = [{ role: 'user' as const, content: 'hi' }]
const named = (name: string): Scenario => {
  const found = SCENARIOS[name]
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}

describe('the emulator', () => {
  it.each(Object.entries(SCENARIOS))('is understood by the SDK of Google: %s', async (_, one) => {
    scenario = one
    const { models } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: upstreamUrl, apiVersion: 'v1beta' } })
    const request = { model: MODEL, contents: 'hi' }
    const whole = await models.generateContent(request)
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk)
    const { text = '', calls = [] } = one
    for (const answer of [[whole], chunks]) {
      const parts = answer.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      expect(parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')).toBe(text)
      expect(parts.flatMap(({ functionCall }) => functionCall?.id ?? [])).toEqual(calls.map(({ id }) => id))
    }
    expect(whole.usageMetadata?.promptTokenCount).toBe(one.usage.input)
    expect(asked[0]?.headers['x-goog-api-key']).toBe(KEY)
  })

  it('fails as the SDK of Google expects', async () => {
    failure = { status: 429, body: VENDORS.GenerateContent.error('too busy') }
    const { models } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: upstreamUrl, apiVersion: 'v1beta' } })
    await expect(models.generateContent({ model: MODEL, contents: 'hi' })).rejects.toThrow('too busy')
  })
})

describe('the SDK of OpenAI', () => {
  it.each(Object.entries(SCENARIOS))('gets %s, whole and streamed', async (_, one) => {
    scenario = one
    const api = openai().chat.completions
    const whole = await api.create({ model: MODEL, messages })
    const stream = api.stream({ model: MODEL, messages, stream_options: { include_usage: true } })
    const streamed = await stream.finalChatCompletion()
    const { text = '', calls = [] } = one
    for (const { choices, usage, model } of [whole, streamed]) {
      const { content, tool_calls: got = [] } = choices[0]?.message ?? {}
      expect([content ?? '', got.map(({ id }) => id)]).toEqual([text, calls.map(({ id }) => id)])
      expect(usage).toMatchObject({ prompt_tokens: one.usage.input, completion_tokens: one.usage.output })
      expect(model).toBe(MODEL)
    }
    expect(asked.map(({ path }) => path)).toEqual([
      `/v1beta/models/${MODEL}:generateContent`,
      `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
    ])
    expect(asked[1]?.body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
    expect([asked[0]?.headers['x-goog-api-key'], asked[0]?.headers.authorization]).toEqual([KEY, undefined])
  })

  it('gives the signature of thoughts back with the call that had it', async () => {
    scenario = named('thinking with a tool')
    const api = openai().chat.completions
    const { choices } = await api.create({ model: MODEL, messages })
    const message = choices[0]?.message
    if (message === undefined) throw new Error('no message')
    scenario = SAYS_HI
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'sunny' }
    await api.create({ model: MODEL, messages: [...messages, message, result] })
    expect(asked[1]?.body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'The user asks for Paris.\n\nSo I call.', thought: true },
          {
            functionCall: { id: 'call_1', name: 'weather', args: { city: 'Paris' } },
            thoughtSignature: 'sig+/=',
          },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_1', name: 'weather', response: { output: 'sunny' } } }],
      },
    ])
  })

  it.each([
    [400, 'INVALID_ARGUMENT', 'invalid_request_error'],
    [403, 'PERMISSION_DENIED', 'authentication_error'],
    [404, 'NOT_FOUND', 'not_found_error'],
    [429, 'RESOURCE_EXHAUSTED', 'rate_limit_error'],
    [503, 'UNAVAILABLE', 'api_error'],
  ])('gets the error %d %s as %s', async (status, name, type) => {
    failure = { status, body: { error: { code: status, message: 'no', status: name } } }
    const reading = openai().chat.completions.create({ model: MODEL, messages })
    await expect(reading).rejects.toMatchObject({ status, type, code: name })
  })

  it('gets a prompt that Google blocks as content_filter', async () => {
    failure = {
      status: 200,
      body: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } },
    }
    const { choices } = await openai().chat.completions.create({ model: MODEL, messages })
    expect(choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { content: null } })
  })
})

it('the SDK of Anthropic reaches Gemini, and calls in its history have the signature that Gemini requires', async () => {
  const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'now', input: {} }
  const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'noon' }
  const { content } = await anthropic().messages.create({
    model: MODEL,
    max_tokens: 9,
    messages: [...messages, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }],
  })
  expect(content).toMatchObject([{ type: 'text', text: 'hi' }])
  expect(asked.map(({ path }) => path)).toEqual([`/v1beta/models/${MODEL}:generateContent`])
  expect(asked[0]?.body['contents']).toMatchObject([
    { role: 'user' },
    { role: 'model', parts: [{ functionCall: { name: 'now' }, thoughtSignature: 'skip_thought_signature_validator' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'now' } }] },
  ])
  expect(asked[0]?.headers['x-goog-api-key']).toBe(KEY)
})
