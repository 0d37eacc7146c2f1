// The provider Vertex AI: official clients of OpenAI and Anthropic before an emulator of Vertex AI, which the SDKs of
// Google and Anthropic for Vertex AI understand.
// @module-tag full
import Anthropic from '@anthropic-ai/sdk'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import { OAuth2Client } from 'google-auth-library'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Answer, type Emulator, gatewayTo, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import { SCENARIOS, VENDORS, type Scenario } from './translate/vendors.testing.ts'

const TOKEN = 'ya29.planted'
const [projectId, region] = ['my-project', 'us-east5']
const BASE = `/v1/projects/${projectId}/locations/${region}`
const CLAUDE = 'claude-opus-9-20301231'
const GEMINI = 'gemini-3-pro'
const LLAMA = 'meta/llama-4'
const messages = [{ role: 'user' as const, content: 'hi' }]

let emulator: Emulator
let gateway: TestProxy
let scenario: Scenario

/** Vendor of the format at the paths of Google's documentation, and whether the answer is a stream. */
function vendorAt(path: string, isStream: boolean): readonly [keyof typeof VENDORS, boolean] | undefined {
  switch (path.slice(BASE.length)) {
    case '/publishers/anthropic/models/claude-opus-9@20301231:rawPredict':
      return isStream ? undefined : ['Messages', false]
    case '/publishers/anthropic/models/claude-opus-9@20301231:streamRawPredict':
      return isStream ? ['Messages', true] : undefined
    case '/publishers/google/models/gemini-3-pro:generateContent':
      return ['GenerateContent', false]
    case '/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse':
      return ['GenerateContent', true]
    case '/endpoints/openapi/chat/completions':
      return ['Completions', isStream]
    default:
      return undefined
  }
}

const vertexAnswer: Answer = ({ path, headers, body }, response) => {
  const found = vendorAt(path, body['stream'] === true)
  const isClaude = path.includes('/anthropic/')
  if (headers.authorization !== `Bearer ${TOKEN}` || headers['x-api-key'] !== undefined) {
    sendJson(response, { error: { code: 401, message: 'no token', status: 'UNAUTHENTICATED' } }, 401)
  } else if (found === undefined || !path.startsWith(BASE)) {
    sendJson(response, { error: { code: 404, message: `no ${path}`, status: 'NOT_FOUND' } }, 404)
  } else if (isClaude && (body['anthropic_version'] === undefined || body['model'] !== undefined)) {
    sendJson(response, { type: 'error', error: { type: 'invalid_request_error', message: 'extra inputs' } }, 400)
  } else {
    const [vendor, isStream] = found
    if (isStream) sendEvents(response, VENDORS[vendor].stream(scenario))
    else sendJson(response, VENDORS[vendor].whole(scenario))
  }
}

beforeAll(async () => {
  emulator = await startEmulator()
  const routes = {
    '/v1/messages': 'Messages',
    '/v1/messages/count_tokens': 'AnthropicTokenCount',
    '/v1/responses': 'Responses',
  } as const
  const policies = { ai: { routes }, auth: { key: { secret: 'n/token' } } }
  const provider = { vertex: { projectId, region } }
  gateway = await gatewayTo(emulator, [{ prefix: '/', provider, policies }], { 'n/token': TOKEN })
})

beforeEach(() => {
  emulator.asked.length = 0
  emulator.answer = vertexAnswer
  scenario = { text: 'hi', stop: 'stop', usage: { input: 3, cached: 0, output: 1 } }
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const openai = () => new OpenAI({ apiKey: 'client', baseURL: `${gateway.url}/v1`, maxRetries: 0 })
const anthropic = () => new Anthropic({ apiKey: 'client', baseURL: gateway.url, maxRetries: 0 })
const paths = () => emulator.asked.map(({ path }) => path)
const authClient = () => {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: TOKEN, expiry_date: Date.now() + 3_600_000 })
  // Each SDK has its own version of the library, so the types differ.
  return client as never
}

describe('the emulator', () => {
  it.each(Object.entries(SCENARIOS))('is understood by the SDK of Google: %s', async (_, one) => {
    scenario = one
    const { models } = new GoogleGenAI({
      vertexai: true,
      project: projectId,
      location: region,
      googleAuthOptions: { authClient: authClient() },
      httpOptions: { baseUrl: emulator.url, apiVersion: 'v1' },
    })
    const request = { model: GEMINI, contents: 'hi' }
    const whole = await models.generateContent(request)
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk)
    for (const answer of [[whole], chunks]) {
      const parts = answer.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      expect(parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')).toBe(one.text ?? '')
    }
  })

  it.each(Object.entries(SCENARIOS))('is understood by the SDK of Anthropic for Vertex AI: %s', async (_, one) => {
    scenario = one
    const client = new AnthropicVertex({
      projectId,
      region,
      baseURL: `${emulator.url}/v1`,
      authClient: authClient(),
      maxRetries: 0,
    })
    const request = { model: CLAUDE.replace(/-(?=\d{8}$)/, '@'), max_tokens: 9, messages }
    const texts = [await client.messages.create(request), await client.messages.stream(request).finalMessage()].map(
      ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    )
    expect(texts).toEqual([one.text ?? '', one.text ?? ''])
  })
})

describe.each([
  [
    CLAUDE,
    '/publishers/anthropic/models/claude-opus-9@20301231:rawPredict',
    '/publishers/anthropic/models/claude-opus-9@20301231:streamRawPredict',
  ],
  [
    GEMINI,
    '/publishers/google/models/gemini-3-pro:generateContent',
    '/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse',
  ],
  [LLAMA, '/endpoints/openapi/chat/completions', '/endpoints/openapi/chat/completions'],
])('the SDK of OpenAI with %s', (model, whole, streamed) => {
  it.each(Object.entries(SCENARIOS))('gets %s, whole and streamed', async (_, one) => {
    scenario = one
    const api = openai().chat.completions
    const stream = { model, messages, stream_options: { include_usage: true } }
    for (const answer of [await api.create({ model, messages }), await api.stream(stream).finalChatCompletion()]) {
      const { content, tool_calls: calls = [] } = answer.choices[0]?.message ?? {}
      expect([content ?? '', calls.map(({ id }) => id)]).toEqual([
        one.text ?? '',
        (one.calls ?? []).map(({ id }) => id),
      ])
      expect(answer.usage).toMatchObject({ prompt_tokens: one.usage.input, completion_tokens: one.usage.output })
    }
    expect(paths()).toEqual([BASE + whole, BASE + streamed])
  })
})

describe('the SDK of Anthropic', () => {
  it('gets messages of Claude, whose bodies have the version and keep long numbers', async () => {
    const history = [
      ...messages,
      {
        role: 'assistant' as const,
        content: [{ type: 'tool_use' as const, id: 'c', name: 'n', input: { at: '12345678901234567890' } }],
      },
      { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: 'c', content: 'x' }] },
    ]
    const request = { model: CLAUDE, max_tokens: 9, messages: history }
    expect((await anthropic().messages.create(request)).content).toMatchObject([{ text: 'hi' }])
    expect(await anthropic().messages.stream(request).finalText()).toBe('hi')
    expect(paths()).toEqual(
      ['rawPredict', 'streamRawPredict'].map(
        (method) => `${BASE}/publishers/anthropic/models/claude-opus-9@20301231:${method}`,
      ),
    )
    expect(emulator.asked[0]?.body).toEqual({
      max_tokens: 9,
      messages: history,
      anthropic_version: 'vertex-2023-10-16',
    })
    expect(emulator.asked[0]?.headers).not.toHaveProperty('anthropic-version')
  })

  it('counts tokens of Claude', async () => {
    emulator.answer = (_, response) => sendJson(response, { input_tokens: 7 })
    expect(await anthropic().messages.countTokens({ model: CLAUDE, messages })).toEqual({ input_tokens: 7 })
    expect(paths()).toEqual([`${BASE}/publishers/anthropic/models/count-tokens:rawPredict`])
    expect(emulator.asked[0]?.body).toMatchObject({ model: 'claude-opus-9@20301231' })
  })

  it('gets Gemini', async () => {
    const request = { model: GEMINI, max_tokens: 9, messages }
    expect(await anthropic().messages.stream(request).finalText()).toBe('hi')
    expect(paths()).toEqual([`${BASE}/publishers/google/models/${GEMINI}:streamGenerateContent?alt=sse`])
  })
})

it('a number with more digits than a double holds reaches Claude', async () => {
  const body = `{"model":"${CLAUDE}","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"metadata":{"n":12345678901234567890}}`
  const reply = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', body })
  expect([reply.status, emulator.asked[0]?.text]).toEqual([200, expect.stringContaining('"n":12345678901234567890')])
})

it('an error of Google reaches clients of both vendors, also in a list', async () => {
  const error = { error: { code: 429, message: 'too busy', status: 'RESOURCE_EXHAUSTED' } }
  for (const json of [error, [error]]) {
    emulator.answer = (_, response) => sendJson(response, json, 429)
    await expect(openai().chat.completions.create({ model: GEMINI, messages })).rejects.toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      message: expect.stringContaining('too busy') as string,
    })
    await expect(anthropic().messages.create({ model: LLAMA, max_tokens: 9, messages })).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('too busy') as string,
    })
  }
})
