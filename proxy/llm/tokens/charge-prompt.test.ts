// Providers with `tokenize`, through a gateway: the prompt is counted and charged before the call.
// @module-tag full
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AIProvider, LocalLimit, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import {
  inTurn,
  reset,
  scriptedUpstream,
  type ScriptedUpstream,
  silence,
  status,
} from '../../backend/scripted-upstream.testing.ts'
import { watchTrace } from '../../trace/watcher.testing.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** A completion with this usage. */
const answer = (prompt: number, output: number) =>
  status(
    200,
    JSON_TYPE,
    JSON.stringify({
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
      usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
    }),
  )

/** 4 for its message, 6 for its text, 3 for the answer. */
const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'tiktoken is great!' }] }
const CHAT_TOKENS = 13

let primary: ScriptedUpstream
let backup: ScriptedUpstream
let gateway: TestProxy

function perHour(tokens: number, unit: LocalLimit['unit'] = 'Tokens'): LocalLimit {
  return { unit, tokensPerFill: tokens, fillIntervalMs: 3_600_000, tokensMax: tokens }
}

const limited = (...limits: [LocalLimit, ...LocalLimit[]]): TrafficPayload => ({ rateLimit: { limits } })

beforeAll(async () => {
  primary = await scriptedUpstream(answer(1, 1))
  backup = await scriptedUpstream(answer(1, 1))
  const provider = (name: string, port: number): AIProvider => ({
    name,
    provider: { openai: {} },
    hostOverride: { host: '127.0.0.1', port },
    tokenize: true,
  })
  const route = (name: string, inline: TrafficPayload, ...providers: [AIProvider, ...AIProvider[]]) => ({
    name,
    prefix: `/${name}/`,
    inline,
    backend: {
      ai: { groups: providers.map((one) => ({ providers: [one] })) },
      inlinePolicies: { ai: { routes: { '/v1/messages': 'Messages', '/v1/responses': 'Responses' } as const } },
    },
  })
  const first = provider('primary', primary.port)
  const { tokenize: _, ...uncounted } = first
  gateway = await testProxy({
    workers: 2,
    routes: [
      route('small', limited(perHour(CHAT_TOKENS - 1)), first),
      route('exact', limited(perHour(CHAT_TOKENS)), first),
      route('corrected', limited(perHour(100)), first),
      route('returned', limited(perHour(100)), first),
      route('failing', limited(perHour(100)), first),
      route('unreachable', limited(perHour(100)), first),
      route('left', limited(perHour(100)), first),
      route('two', limited(perHour(100)), first, provider('backup', backup.port)),
      route('retried', { ...limited(perHour(100)), retry: { attempts: 2, codes: [503] } }, first),
      route('second', limited(perHour(CHAT_TOKENS), perHour(CHAT_TOKENS - 1)), first),
      route('uncounted', limited(perHour(1)), uncounted),
      route('formats', limited(perHour(10)), first),
      route('logged', {}, first),
      route('old', {}, first),
    ],
  })
})

beforeEach(() => {
  for (const upstream of [primary, backup]) {
    upstream.seen.length = 0
    upstream.script = answer(1, 1)
  }
})

afterAll(async () => {
  await gateway.stop()
  primary.stop()
  backup.stop()
})

async function post(route: string, body: unknown = CHAT, path = '/v1/chat/completions', signal?: AbortSignal) {
  const response = await fetch(`${gateway.url}/${route}${path}`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
  const text = await response.text()
  const remaining = response.headers.get('x-ratelimit-remaining')
  return { status: response.status, remaining: remaining === null ? undefined : Number(remaining), text }
}

/** The rest of the limit of a route, by an invalid request, which takes nothing. */
async function leftOf(route: string): Promise<number | undefined> {
  return (await post(route, 'invalid')).remaining
}

describe('a limit on tokens', () => {
  it('rejects a prompt that is larger than the rest, before the provider is called', async () => {
    const { status: code, text, remaining } = await post('small')
    expect([code, remaining]).toEqual([429, CHAT_TOKENS - 1])
    expect(JSON.parse(text)).toMatchObject({ error: { message: 'rate limit exceeded' } })
    expect(primary.seen).toEqual([])
  })

  it('lets a prompt pass that is as large as the rest', async () => {
    expect(await post('exact')).toMatchObject({ status: 200, remaining: 0 })
  })

  it('is charged the usage of the response in the end', async () => {
    primary.script = answer(20, 30)
    expect(await post('corrected')).toMatchObject({ status: 200, remaining: 100 - CHAT_TOKENS })
    await until('the charge of the usage', async () => (await leftOf('corrected')) === 50)
  })

  it('gets tokens back if the usage is lower than the count', async () => {
    primary.script = answer(2, 1)
    expect(await post('returned')).toMatchObject({ status: 200, remaining: 100 - CHAT_TOKENS })
    await until('the charge of the usage', async () => (await leftOf('returned')) === 97)
  })

  it('gets the tokens of the prompt back if the provider reports an error', async () => {
    primary.script = status(400, JSON_TYPE, '{"error":{"message":"no"}}')
    expect(await post('failing')).toMatchObject({ status: 400, remaining: 100 - CHAT_TOKENS })
    await until('the return', async () => (await leftOf('failing')) === 100)
  })

  it('gets the tokens of the prompt back if the provider is not reached', async () => {
    primary.script = reset
    expect(await post('unreachable')).toMatchObject({ status: 503 })
    await until('the return', async () => (await leftOf('unreachable')) === 100)
  })

  it('keeps the tokens of the prompt if the client leaves, once', async () => {
    primary.script = silence
    const leaving = new AbortController()
    const asking = post('left', CHAT, undefined, leaving.signal)
    await until('the call', () => primary.seen.length === 1)
    leaving.abort()
    await expect(asking).rejects.toThrow(/abort/i)
    expect(await leftOf('left')).toBe(100 - CHAT_TOKENS)
    expect(primary.seen).toHaveLength(1)
  })

  it('is charged once if another provider gets the request', async () => {
    primary.script = status(500)
    backup.script = answer(20, 10)
    expect(await post('two')).toMatchObject({ status: 200, remaining: 100 - CHAT_TOKENS })
    expect([primary.seen.length, backup.seen.length]).toEqual([1, 1])
    await until('the charge of the usage', async () => (await leftOf('two')) === 70)
  })

  it('is charged once if the request is retried', async () => {
    primary.script = inTurn(status(503), status(503), answer(20, 10))
    expect(await post('retried')).toMatchObject({ status: 200, remaining: 100 - CHAT_TOKENS })
    expect(primary.seen).toHaveLength(3)
    await until('the charge of the usage', async () => (await leftOf('retried')) === 70)
  })

  it('is not charged if a second limit rejects the prompt', async () => {
    expect(await post('second')).toMatchObject({ status: 429, remaining: CHAT_TOKENS - 1 })
    expect(primary.seen).toEqual([])
    // The lowest rest of both.
    expect(await leftOf('second')).toBe(CHAT_TOKENS - 1)
  })

  it('only requires one token without tokenize', async () => {
    primary.script = answer(20, 10)
    expect(await post('uncounted')).toMatchObject({ status: 200, remaining: 1 })
  })

  it.each([
    [
      '/v1/messages',
      { model: 'm', max_tokens: 5, system: 'tiktoken is great!', messages: [{ role: 'user', content: 'hi' }] },
    ],
    ['/v1/responses', { model: 'm', instructions: 'tiktoken is great!', input: 'hi' }],
  ])('counts the texts of %s', async (path, body) => {
    expect(await post('formats', body, path)).toMatchObject({ status: 429, remaining: 10 })
    expect(primary.seen).toEqual([])
  })
})

describe('a count', () => {
  it('is in the trace with its encoding', async () => {
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
    await post('logged', { ...CHAT, model: 'some-model' })
    const events = await watcher.ended
    expect(events.map(({ message }) => message)).toContainEqual(
      expect.objectContaining({ kind: 'tokenize', details: '13 tokens of the prompt, in cl100k_base' }),
    )
  })

  it('is not possible for models with other encodings', async () => {
    const { status: code, text } = await post('old', { ...CHAT, model: 'text-davinci-003' })
    expect(code).toBe(400)
    expect(JSON.parse(text)).toMatchObject({
      error: { message: expect.stringContaining('the tokens of this model cannot be counted before the request') },
    })
    expect(primary.seen).toEqual([])
  })
})
