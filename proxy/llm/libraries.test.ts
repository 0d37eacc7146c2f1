// @module-tag full
// Libraries that programs use in place of the SDKs of the vendors: the package `ai` and LangChain, before a provider of
// another format.
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Emulator, gatewayTo, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import { asArray } from './json.ts'
import { CLIENT_ROUTES } from './translate/client-requests.testing.ts'
import { VENDORS, type Scenario } from './translate/vendors.testing.ts'

const usage = { input: 20, cached: 0, output: 9 }
const CALLS: Scenario = {
  reasoning: { text: 'I look.', signature: 'sig+/=' },
  calls: [
    { id: 'toolu_1', name: 'weather', input: '{"city":"Paris"}' },
    { id: 'toolu_2', name: 'weather', input: '{"city":"Rome"}' },
  ],
  stop: 'toolCalls',
  usage,
}
const SAYS_HI: Scenario = { text: 'Grüße 👋', stop: 'stop', usage }

let emulator: Emulator
let gateway: TestProxy

beforeAll(async () => {
  emulator = await startEmulator()
  const provider = { custom: { formats: [{ type: 'Messages' as const }] } }
  gateway = await gatewayTo(emulator, [{ prefix: '/', provider, policies: { ai: { routes: CLIENT_ROUTES } } }])
})

/** Calls first, then a text when the results have come. */
beforeEach(() => {
  emulator.asked.length = 0
  emulator.answer = ({ text, body }, response) => {
    const scenario = text.includes('"tool_result"') || body['tools'] === undefined ? SAYS_HI : CALLS
    if (body['stream'] === true) sendEvents(response, VENDORS.Messages.stream(scenario))
    else sendJson(response, VENDORS.Messages.whole(scenario))
  }
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const SENT_CALLS = [
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
  { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Rome' } },
]
const SENT_RESULTS = ['toolu_1', 'toolu_2'].map((id) => ({ type: 'tool_result', tool_use_id: id }))

/** The history of the second request. */
function sentHistory(): readonly unknown[] {
  return asArray(emulator.asked[1]?.body['messages'])
}

describe('the package ai', () => {
  const weather = tool({
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  })
  // The gateway keeps no responses: the library sends the items themselves, not references to them.
  const providerOptions = { openai: { store: false } }
  const models: Readonly<Record<string, () => LanguageModel>> = {
    'chat completions': () => createOpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1` }).chat('m'),
    responses: () => createOpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1` }).responses('m'),
    generateContent: () => createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${gateway.url}/v1beta` })('m'),
  }

  it.each(Object.entries(models))('calls tools in parallel through %s, whole', async (_, model) => {
    const { text } = await generateText({
      model: model(),
      prompt: 'Weather?',
      providerOptions,
      tools: { weather },
      stopWhen: stepCountIs(3),
    })
    expect(text).toBe(SAYS_HI.text)
    expect(sentHistory()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: expect.arrayContaining(SENT_CALLS) as unknown },
      { role: 'user', content: SENT_RESULTS },
    ])
  })

  it.each(Object.entries(models))('calls tools in parallel through %s, streamed', async (_, model) => {
    const errors: unknown[] = []
    const result = streamText({
      model: model(),
      prompt: 'Weather?',
      providerOptions,
      tools: { weather },
      stopWhen: stepCountIs(3),
      onError: ({ error }) => void errors.push(error),
    })
    let text = ''
    for await (const piece of result.textStream) text += piece
    expect([text, errors]).toEqual([SAYS_HI.text, []])
    expect(sentHistory()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: expect.arrayContaining(SENT_CALLS) as unknown },
      { role: 'user', content: SENT_RESULTS },
    ])
  })
})

describe('LangChain', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const weather = { type: 'function' as const, function: { name: 'weather', parameters: schema } }
  const chat = () =>
    new ChatOpenAI({ model: 'm', apiKey: 'k', maxRetries: 0, configuration: { baseURL: `${gateway.url}/v1` } })

  it('gets a text and its usage, whole and streamed', async () => {
    const { content, usage_metadata: counts } = await chat().invoke('hi')
    expect([content, counts]).toMatchObject([SAYS_HI.text, { input_tokens: usage.input, output_tokens: usage.output }])
    let text = ''
    for await (const chunk of await chat().stream('hi')) text += chunk.text
    expect(text).toBe(SAYS_HI.text)
  })

  it('gets parallel calls, and sends their results back', async () => {
    const bound = chat().bindTools([weather])
    const calling = await bound.invoke('Weather?')
    expect(calling.tool_calls).toMatchObject([
      { id: 'toolu_1', name: 'weather', args: { city: 'Paris' } },
      { id: 'toolu_2', name: 'weather', args: { city: 'Rome' } },
    ])
    const results = ['toolu_1', 'toolu_2'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }))
    const { content } = await bound.invoke([{ role: 'user', content: 'Weather?' }, calling, ...results])
    expect(content).toBe(SAYS_HI.text)
    expect(sentHistory()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: expect.arrayContaining(SENT_CALLS) as unknown },
      { role: 'user', content: SENT_RESULTS },
    ])
  })
})
