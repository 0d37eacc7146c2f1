// The SDK of Google as a client of the gateway, before emulators of Gemini and of providers with other formats.
import { createGzip } from 'node:zlib'
import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import {
  type Emulator,
  type EmulatedRoute,
  gatewayTo,
  sendEvents,
  sendJson,
  startEmulator,
} from './emulator.testing.ts'
import { asArray } from './json.ts'
import { framesOf } from './translate/client.testing.ts'
import { CLIENT_ROUTES } from './translate/client-requests.testing.ts'
import { VENDORS, type Scenario } from './translate/vendors.testing.ts'

const MODEL = 'gemini-3-pro'
const KEY = 'AIza-test'
const SAYS_HI: Scenario = { text: 'hi', stop: 'stop', usage: { input: 3, cached: 0, output: 1 } }
const END = `/models/${MODEL}`

let emulator: Emulator
let gateway: TestProxy

const ai = { routes: { ...CLIENT_ROUTES, ':countTokens': 'GeminiCountTokens' } } as const
const custom = (type: 'Completions' | 'Messages' | 'Responses') => ({ custom: { formats: [{ type }] } })
const ROUTES: readonly EmulatedRoute[] = [
  { prefix: '/gemini', provider: { gemini: {} }, policies: { ai } },
  { prefix: '/fixed', provider: { gemini: { model: 'gemini-2.5-flash' } }, policies: { ai } },
  {
    prefix: '/aliased',
    provider: { gemini: {} },
    policies: {
      ai: {
        ...ai,
        modelAliases: { [MODEL]: 'tunedModels/own' },
        overrides: [{ field: 'labels', value: { team: 'a' } }],
      },
    },
  },
  { prefix: '/keyed', provider: { gemini: {} }, policies: { ai, auth: { key: { secret: 'n/key' } } } },
  { prefix: '/Completions', provider: custom('Completions'), policies: { ai } },
  { prefix: '/Messages', provider: custom('Messages'), policies: { ai } },
  { prefix: '/Responses', provider: custom('Responses'), policies: { ai } },
]

beforeAll(async () => {
  emulator = await startEmulator()
  gateway = await gatewayTo(emulator, ROUTES, { 'n/key': 'AIza-of-the-gateway' })
})

beforeEach(() => {
  emulator.asked.length = 0
  emulator.answer = ({ path }, response) =>
    path.includes('alt=sse')
      ? sendEvents(response, VENDORS.GenerateContent.stream(SAYS_HI))
      : sendJson(response, VENDORS.GenerateContent.whole(SAYS_HI))
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const google = (prefix: string) =>
  new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url + prefix, apiVersion: 'v1beta' } })

/** A body whose bytes say whether it was parsed and written again. */
const BODY =
  '{ "contents": [ { "parts": [ { "text": "hi" } ] } ],  "generationConfig": {"temperature": 1.0}, "own": 12345678901234567890 }'
const ask = (path: string, body = BODY, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

describe('a client of Gemini and the provider Gemini', () => {
  it('whole answers and streams reach the SDK', async () => {
    const { models } = google('/gemini')
    expect((await models.generateContent({ model: MODEL, contents: 'hi' })).text).toBe('hi')
    const texts: string[] = []
    for await (const { text = '' } of await models.generateContentStream({ model: MODEL, contents: 'hi' }))
      texts.push(text)
    expect(texts.join('')).toBe('hi')
    expect(emulator.asked.map(({ path }) => path)).toEqual([
      `/v1beta${END}:generateContent`,
      `/v1beta${END}:streamGenerateContent?alt=sse`,
    ])
    expect(emulator.asked.map(({ headers }) => headers['x-goog-api-key'])).toEqual([KEY, KEY])
  })

  it('the bytes of the request and of the answer stay', async () => {
    const answer = '{ "candidates": [ ],  "promptFeedback": {"blockReason": "OTHER"}, "n": 1.0 }'
    emulator.answer = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    const reply = await ask(`/gemini/v1beta${END}:generateContent`)
    expect(await reply.text()).toBe(answer)
    expect(emulator.asked[0]?.text).toBe(BODY)
  })

  it('counting tokens is forwarded', async () => {
    emulator.answer = (_, response) => sendJson(response, { totalTokens: 7 })
    const { totalTokens } = await google('/gemini').models.countTokens({ model: MODEL, contents: 'hi' })
    expect(totalTokens).toBe(7)
    expect(emulator.asked[0]?.path).toBe(`/v1beta${END}:countTokens`)
  })

  it('the model of a provider or an alias replaces that of the path, and the body stays without one', async () => {
    await ask(`/fixed/v1beta${END}:generateContent`)
    await ask(`/aliased/v1beta${END}:streamGenerateContent?alt=sse`)
    expect(emulator.asked.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-2.5-flash:generateContent',
      '/v1beta/tunedModels/own:streamGenerateContent?alt=sse',
    ])
    expect(emulator.asked[0]?.text).toBe(BODY)
    expect(emulator.asked[1]?.text).toBe(`${BODY.slice(0, -2)},"labels":{"team":"a"} }`)
  })

  it('a key in the query moves to its header field, and one of a policy replaces that of the client', async () => {
    await ask(`/gemini/v1beta${END}:generateContent?key=${KEY}&own=1`)
    await ask(`/keyed/v1beta${END}:generateContent?key=${KEY}`, BODY, { 'x-goog-api-key': 'AIza-other' })
    expect(emulator.asked.map(({ path, headers }) => [path, headers['x-goog-api-key'], headers.authorization])).toEqual(
      [
        [`/v1beta${END}:generateContent?own=1`, KEY, undefined],
        [`/v1beta${END}:generateContent`, 'AIza-of-the-gateway', undefined],
      ],
    )
  })

  it('a request without a model in its path is rejected', async () => {
    const reply = await ask('/gemini/v1beta/chat:generateContent')
    expect([reply.status, await reply.text()]).toEqual([
      400,
      expect.stringContaining('missing field: model not specified'),
    ])
  })

  it('errors keep their bytes and status', async () => {
    emulator.answer = (_, response) => sendJson(response, VENDORS.GenerateContent.error('too busy'), 503)
    await expect(google('/gemini').models.generateContent({ model: MODEL, contents: 'hi' })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('too busy') as string,
    })
  })
})

describe('a stream without alt=sse is one JSON array', () => {
  const body = '{"contents":[{"parts":[{"text":"hi"}]}]}'
  const asked = (prefix: string) => ask(`${prefix}/v1beta${END}:streamGenerateContent`, body)

  it.each(['/gemini', '/Completions', '/Messages', '/Responses'] as const)('from %s', async (prefix) => {
    const vendor = VENDORS[prefix === '/gemini' ? 'GenerateContent' : (prefix.slice(1) as 'Completions')]
    emulator.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      const gzip = createGzip()
      gzip.pipe(response)
      gzip.end(vendor.stream(SAYS_HI).join(''))
    }
    const reply = await asked(prefix)
    expect(reply.headers.get('content-type')).toBe('application/json')
    const chunks = asArray(await reply.json())
    expect(chunks.length).toBeGreaterThan(1)
    expect(JSON.stringify(chunks)).toContain('"finishReason":"STOP"')
    emulator.answer = (_, response) => sendEvents(response, vendor.stream(SAYS_HI))
    const events = await ask(`${prefix}/v1beta${END}:streamGenerateContent?alt=sse`, body)
    expect(framesOf(await events.text()).map(({ data }) => JSON.parse(data) as unknown)).toEqual(chunks)
  })

  it('that the provider answers whole', async () => {
    emulator.answer = (_, response) => sendJson(response, VENDORS.Messages.whole(SAYS_HI))
    expect(JSON.stringify(await (await asked('/Messages')).json())).toMatch(
      /^\[.*"text":"hi".*"finishReason":"STOP".*\]$/,
    )
  })

  it.each<[string, string]>([
    ['with an event that is not JSON', 'data: {"candidates":[]}\n\ndata: {"cand\n\ndata: {}\n\n'],
    ['that breaks within an event', 'data: {"candidates":[]}\n\ndata: {"candi'],
  ])('%s ends with an error', async (name, text) => {
    emulator.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(text)
      if (name.includes('breaks')) setTimeout(() => response.destroy(), 20)
      else response.end()
    }
    const error = { code: 500, message: 'the stream of the provider ended early', status: 'INTERNAL' }
    expect(await (await asked('/gemini')).json()).toEqual([{ candidates: [] }, { error }])
  })
})

describe('a client of Gemini and a provider of another format', () => {
  it.each(['Completions', 'Messages', 'Responses'] as const)(
    '%s gets the key, and no parameter of Google',
    async (to) => {
      emulator.answer = (_, response) => sendJson(response, VENDORS[to].whole(SAYS_HI))
      const query = `key=${KEY}&alt=json&prettyPrint=false&own=1`
      await ask(`/${to}/v1beta${END}:generateContent?${query}`, '{"contents":[{"parts":[{"text":"hi"}]}]}')
      const [asked] = emulator.asked
      expect(asked?.path).toMatch(/^[^?]*\?own=1$/)
      expect([asked?.headers.authorization, asked?.headers['x-goog-api-key']]).toEqual([`Bearer ${KEY}`, undefined])
      expect(asked?.body).toMatchObject({ model: MODEL })
      expect(asked?.body).not.toHaveProperty('stream')
    },
  )

  it('gets 400 for counting tokens', async () => {
    const reply = await ask(`/Messages/v1beta${END}:countTokens`)
    expect([reply.status, emulator.asked.length]).toEqual([400, 0])
    expect(await reply.text()).toContain('unsupported conversion: from GeminiCountTokens')
  })

  it('a call and its result go through a chat of the SDK, with the thoughts and their signature', async () => {
    const chat = google('/Messages').chats.create({ model: MODEL })
    const scenario: Scenario = {
      reasoning: { text: 'I call.', signature: 'sig+/=' },
      calls: [{ id: 'toolu_1', name: 'weather', input: '{"city":"Paris"}' }],
      stop: 'toolCalls',
      usage: { input: 3, cached: 0, output: 9 },
    }
    emulator.answer = (_, response) => sendEvents(response, VENDORS.Messages.stream(scenario))
    for await (const _ of await chat.sendMessageStream({ message: 'hi' }));
    emulator.answer = (_, response) => sendJson(response, VENDORS.Messages.whole(SAYS_HI))
    const functionResponse = { name: 'weather', response: { output: 'sunny' } }
    expect((await chat.sendMessage({ message: { functionResponse } })).text).toBe('hi')
    expect(emulator.asked[1]?.body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I call.', signature: 'sig+/=' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }] },
    ])
  })
})
