// @module-tag full
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Emulator, gatewayTo, sendJson, startEmulator } from '../emulator.testing.ts'
import type { JsonObject } from '../json.ts'
import { COUNTERS, NEVER } from './counters.testing.ts'

const TOOL = { name: 'find', input_schema: { type: 'object', properties: { a: { type: 'string' } } } }
const REQUEST = { model: 'gpt-4o', messages: [{ role: 'user', content: 'tiktoken is great!' }] }

let emulator: Emulator
let gateway: TestProxy

beforeAll(async () => {
  emulator = await startEmulator()
  emulator.answer = (_, response) => sendJson(response, { input_tokens: 99 })
  const policies = { ai: { routes: { '/count_tokens': 'AnthropicTokenCount' } } } as const
  gateway = await gatewayTo(emulator, [
    { prefix: '/openai', provider: { openai: {} }, policies, more: { tokenize: true } },
    { prefix: '/uncounted', provider: { openai: {} }, policies },
    { prefix: '/anthropic', provider: { anthropic: {} }, policies, more: { tokenize: true } },
  ])
})

beforeEach(() => {
  emulator.asked.length = 0
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

async function ask(route: string, body: JsonObject): Promise<readonly [status: number, answer: unknown]> {
  const url = `${gateway.url}/${route}/v1/messages/count_tokens`
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return [response.status, await response.json()]
}

it('the proxy counts the messages for a provider that cannot', async () => {
  expect(await ask('openai', REQUEST)).toEqual([200, { input_tokens: 13 }])
  expect(emulator.asked).toEqual([])
})

it('definitions of tools are counted as JSON', async () => {
  const tools = await COUNTERS.o200k_base.count([JSON.stringify(TOOL)], NEVER)
  expect(await ask('openai', { ...REQUEST, tools: [TOOL] })).toEqual([200, { input_tokens: 13 + tools }])
})

it('a provider that counts gets the request', async () => {
  expect(await ask('anthropic', REQUEST)).toEqual([200, { input_tokens: 99 }])
  expect(emulator.asked).toHaveLength(1)
})

it.each([
  ['the provider has no tokenize', 'uncounted', REQUEST],
  ['the encoding of the model is unknown', 'openai', { ...REQUEST, model: 'text-davinci-003' }],
])('the request gets 400 if %s', async (_, route, body) => {
  expect(await ask(route, body)).toMatchObject([400, { error: { message: expect.stringContaining('unsupported') } }])
})
