// The providers of Azure: official clients of OpenAI, Anthropic and Azure OpenAI before an emulator of Azure.
// @module-tag full
import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { AzureOpenAI } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Answer, type Emulator, gatewayTo, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import { SCENARIOS, VENDORS, type Scenario } from './translate/vendors.testing.ts'

const KEY = 'planted-key'
const DATED = '2025-04-01-preview'
const messages = [{ role: 'user' as const, content: 'hi' }]
const AUTH = { key: { secret: 'n/key' } }
const ROUTES = {
  '/v1/messages': 'Messages',
  '/v1/messages/count_tokens': 'AnthropicTokenCount',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
} as const

let emulator: Emulator
let gateway: TestProxy
let scenario: Scenario

/** Vendor of the format that Azure has at a path of its documentation; the answer is 404 at all others. */
const VENDOR_AT: readonly [RegExp, keyof typeof VENDORS][] = [
  [/^\/(?:api\/projects\/team\/)?openai\/v1\/chat\/completions$/, 'Completions'],
  [/^\/openai\/deployments\/gpt-5-mini\/chat\/completions\?api-version=2025-04-01-preview$/, 'Completions'],
  [/^\/openai\/v1\/responses$/, 'Responses'],
  [/^\/anthropic\/v1\/messages$/, 'Messages'],
]
/** Azure begins a stream of chat completions with the results of its filters. */
const FILTERED = `data: ${JSON.stringify({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] })}\n\n`

const azureAnswer: Answer = ({ path, headers, body }, response) => {
  const found = VENDOR_AT.find(([pattern]) => pattern.test(path))
  const isClaude = path.startsWith('/anthropic')
  if (headers[isClaude ? 'x-api-key' : 'api-key'] !== KEY || headers.authorization !== undefined) {
    sendJson(response, { error: { code: '401', message: 'Access denied' } }, 401)
  } else if (found === undefined) sendJson(response, { error: { code: '404', message: `no ${path}` } }, 404)
  else if (body['stream'] === true) {
    const events = VENDORS[found[1]].stream(scenario)
    sendEvents(response, found[1] === 'Completions' ? [FILTERED, ...events] : events)
  } else sendJson(response, VENDORS[found[1]].whole(scenario))
}

beforeAll(async () => {
  emulator = await startEmulator()
  const policies = { ai: { routes: ROUTES }, auth: AUTH }
  const openai = { host: 'res.openai.azure.com', resourceType: 'OpenAI' } as const
  const foundry = { host: 'res.services.ai.azure.com', resourceType: 'Foundry', project: 'team' } as const
  gateway = await gatewayTo(
    emulator,
    [
      { prefix: '/openai', provider: { 'azure-openai': openai }, policies },
      {
        prefix: '/dated',
        provider: { 'azure-openai': { ...openai, apiVersion: DATED, model: 'gpt-5-mini' } },
        policies,
      },
      { prefix: '/foundry', provider: { 'azure-foundry': foundry }, policies },
    ],
    { 'n/key': KEY },
  )
})

beforeEach(() => {
  emulator.asked.length = 0
  emulator.answer = azureAnswer
  scenario = { text: 'hi', stop: 'stop', usage: { input: 3, cached: 0, output: 1 } }
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const openaiAt = (prefix: string) =>
  new OpenAI({ apiKey: 'client', baseURL: `${gateway.url}${prefix}/v1`, maxRetries: 0 })
const anthropicAt = (prefix: string) =>
  new Anthropic({ apiKey: 'client', baseURL: gateway.url + prefix, maxRetries: 0 })
const azureAt = (endpoint: string, apiKey: string) =>
  new AzureOpenAI({ endpoint, apiKey, apiVersion: DATED, maxRetries: 0 })
const paths = () => emulator.asked.map(({ path }) => path)

describe('the emulator', () => {
  it.each(Object.entries(SCENARIOS))('is understood by the SDK of Azure OpenAI: %s', async (_, one) => {
    scenario = one
    const api = azureAt(emulator.url, KEY).chat.completions
    const request = { model: 'gpt-5-mini', messages }
    const whole = await api.create(request)
    const streamed = await api.stream(request).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.message.content ?? '').toBe(one.text ?? '')
      expect((choices[0]?.message.tool_calls ?? []).map(({ id }) => id)).toEqual((one.calls ?? []).map(({ id }) => id))
    }
  })
})

describe.each([
  ['/openai', '/openai/v1/chat/completions'],
  ['/dated', `/openai/deployments/gpt-5-mini/chat/completions?api-version=${DATED}`],
  ['/foundry', '/api/projects/team/openai/v1/chat/completions'],
])('chat completions at %s', (prefix, path) => {
  it.each(Object.entries(SCENARIOS))('%s, whole and streamed', async (_, one) => {
    scenario = one
    const api = openaiAt(prefix).chat.completions
    const whole = await api.create({ model: 'gpt-5-mini', messages })
    const stream = api.stream({ model: 'gpt-5-mini', messages, stream_options: { include_usage: true } })
    for (const { choices, usage } of [whole, await stream.finalChatCompletion()]) {
      expect(choices[0]?.message.content ?? '').toBe(one.text ?? '')
      expect(usage).toMatchObject({ prompt_tokens: one.usage.input, completion_tokens: one.usage.output })
    }
    expect(paths()).toEqual([path, path])
  })

  it('an SDK of Azure OpenAI is served, whatever version of the API it names', async () => {
    const { choices } = await azureAt(gateway.url + prefix, 'client').chat.completions.create({
      model: 'gpt-5-mini',
      messages,
    })
    expect([choices[0]?.message.content, ...paths()]).toEqual(['hi', path])
  })

  it('an SDK of Anthropic is served by translation', async () => {
    const request = { model: 'gpt-5-mini', max_tokens: 9, messages }
    expect((await anthropicAt(prefix).messages.create(request)).content).toMatchObject([{ text: 'hi' }])
    expect(await anthropicAt(prefix).messages.stream(request).finalText()).toBe('hi')
    expect(paths()).toEqual([path, path])
  })
})

it('responses are sent unchanged', async () => {
  const { output_text: text } = await openaiAt('/openai').responses.create({ model: 'gpt-5-mini', input: 'hi' })
  expect([text, ...paths()]).toEqual(['hi', '/openai/v1/responses'])
})

describe('Claude on Azure AI Foundry', () => {
  it('gets messages of clients of Anthropic and OpenAI', async () => {
    const claude = { model: 'claude-test', max_tokens: 9, messages }
    expect((await anthropicAt('/foundry').messages.create(claude)).content).toMatchObject([{ text: 'hi' }])
    expect(await anthropicAt('/foundry').messages.stream(claude).finalText()).toBe('hi')
    const { choices } = await openaiAt('/foundry').chat.completions.create(claude)
    expect(choices[0]?.message.content).toBe('hi')
    expect(paths()).toEqual(Array.from({ length: 3 }, () => '/anthropic/v1/messages'))
    expect(emulator.asked[2]?.headers['anthropic-version']).toBe('2023-06-01')
  })

  it('counts tokens, which other models do not', async () => {
    emulator.answer = (_, response) => sendJson(response, { input_tokens: 7 })
    const api = anthropicAt('/foundry').messages
    expect(await api.countTokens({ model: 'claude-test', messages })).toEqual({ input_tokens: 7 })
    expect(paths()).toEqual(['/anthropic/v1/messages/count_tokens'])
    await expect(api.countTokens({ model: 'gpt-5-mini', messages })).rejects.toThrow(
      'unsupported conversion: from AnthropicTokenCount to provider azure',
    )
  })
})

it('an error of Azure reaches clients of both vendors', async () => {
  emulator.answer = (_, response) =>
    sendJson(response, { error: { code: 'DeploymentNotFound', message: 'no such deployment' } }, 404)
  const chat = openaiAt('/openai').chat.completions.create({ model: 'absent', messages })
  await expect(chat).rejects.toMatchObject({ status: 404, code: 'DeploymentNotFound' })
  const message = anthropicAt('/openai').messages.create({ model: 'absent', max_tokens: 9, messages })
  await expect(message).rejects.toMatchObject({ status: 404, message: expect.stringContaining('no such') as string })
})
