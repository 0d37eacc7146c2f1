// A request moves to the next provider while the client has got nothing of a response, without a retry policy.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AIProvider, BackendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { freePort } from '#test/ports.ts'
import {
  reset,
  type Script,
  scriptedUpstream,
  type ScriptedUpstream,
  silence,
  status,
} from '../backend/scripted-upstream.testing.ts'
import { watchTrace } from '../trace/watcher.testing.ts'
import { VENDORS } from './translate/vendors.testing.ts'
import { PROVIDERS_MAX } from './failover.ts'
import { logFile } from './log-file.testing.ts'

const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 3, cached: 0, output: 2 } } as const
const JSON_TYPE = { 'content-type': 'application/json' }
const ANSWER = JSON.stringify(VENDORS.Completions.whole(SCENARIO))
const answers = status(200, JSON_TYPE, ANSWER)

let primary: ScriptedUpstream
let backup: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  primary = await scriptedUpstream(answers)
  backup = await scriptedUpstream(answers)
  const closed = await freePort()
  const provider = (name: string, port: number, settings: AIProvider['provider'] = { openai: {} }) => ({
    name,
    provider: settings,
    hostOverride: { host: '127.0.0.1', port },
  })
  const route = (
    name: string,
    providers: readonly (readonly AIProvider[])[],
    policies: { readonly inline?: TrafficPayload; readonly backend?: BackendPayload } = {},
  ) => ({
    name,
    prefix: `/${name}`,
    ...(policies.inline && { inline: policies.inline }),
    backend: {
      ai: { groups: providers.map((group) => ({ providers: [...group] })) },
      inlinePolicies: {
        ai: { routes: { '/v1/messages': 'Messages', '/files': 'Passthrough' } as const },
        ...policies.backend,
      },
    },
  })
  const [first, second] = [provider('primary', primary.port), provider('backup', backup.port)]
  gateway = await testProxy({
    routes: [
      route('two', [[first], [second]]),
      route('equal', [[first, second]]),
      route('one', [[first]]),
      route('closed', [[provider('primary', closed)], [second]]),
      route('vendors', [[provider('primary', primary.port, { anthropic: {} })], [second]]),
      route('timeout', [[first], [second]], { inline: { timeouts: { backendRequestMs: 100 } } }),
      route('deadline', [[first], [second]], { inline: { timeouts: { requestMs: 100 } } }),
      route('retried', [[first], [second]], { inline: { retry: { attempts: 1, codes: [503] } } }),
      route('evicting', [[first], [second]], {
        backend: {
          health: { unhealthyCondition: 'response.code == 429', eviction: { durationMs: 60_000 } },
        },
      }),
      route(
        'many',
        Array.from({ length: 12 }, (_, i) => [provider(`p${i}`, primary.port)]),
      ),
    ],
    settings: log.settings,
  })
})

beforeEach(() => {
  for (const upstream of [primary, backup]) {
    upstream.seen.length = 0
    upstream.script = answers
  }
})

afterAll(async () => {
  await gateway.stop()
  primary.stop()
  backup.stop()
  log.remove()
})

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })

const post = (route: string, body: string | Buffer = CHAT, path = '/v1/chat/completions', headers = {}) =>
  fetch(`${gateway.url}/${route}${path}`, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } })

const FAULTS: Readonly<Record<string, readonly [script: Script, outcome: string]>> = {
  'status 500': [status(500), 'status 500'],
  'status 503 with an error': [status(503, JSON_TYPE, JSON.stringify(VENDORS.Completions.error('busy'))), 'status 503'],
  'status 529': [status(529), 'status 529'],
  'status 429': [status(429, JSON_TYPE, '{}'), 'status 429'],
  'status 429 with Retry-After': [status(429, { 'retry-after': '60' }, '{}'), 'status 429'],
  'a closed connection': [reset, 'upstreamFailure'],
  'truncated JSON': [status(200, JSON_TYPE, ANSWER.slice(0, -5)), 'llmResponseInvalid'],
  'a page of HTML': [status(200, { 'content-type': 'text/html' }, '<html>'), 'llmResponseInvalid'],
  'a body that breaks': [
    (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': ANSWER.length })
      response.write(ANSWER.slice(0, 10), () => response.destroy())
    },
    'llmResponseInvalid',
  ],
}

describe('after a failed try', () => {
  it.each(Object.entries(FAULTS))('the next provider answers: %s', async (name, [script, outcome]) => {
    primary.script = script
    const id = name.replaceAll(' ', '-')
    const reply = await post('two', CHAT, `/${id}/v1/chat/completions`)
    expect([reply.status, await reply.text()]).toEqual([200, ANSWER])
    expect([primary.seen.length, backup.seen.length]).toEqual([1, 1])
    expect(primary.seen[0]?.headers['x-retry-attempt']).toBeUndefined()
    expect(backup.seen[0]).toMatchObject({ body: CHAT, headers: { 'x-retry-attempt': '1' } })
    const line = await log.line(`/${id}/`)
    expect(line).toContain(`gw.ai.failed_providers="primary: ${outcome}" retry.attempt=1`)
    expect(line).toContain('gen_ai.usage.input_tokens=3')
    expect(line).not.toContain('reason=')
  })

  it('a provider that cannot be connected is left, and so is one that does not answer in time', async () => {
    expect((await post('closed')).status).toBe(200)
    primary.script = silence
    expect((await post('timeout')).status).toBe(200)
    expect(backup.seen).toHaveLength(2)
  })

  it('the deadline of the request ends all tries', async () => {
    primary.script = silence
    expect((await post('deadline')).status).toBe(504)
    expect(backup.seen).toHaveLength(0)
  })

  it('another provider of the same group answers', async () => {
    primary.script = status(503)
    const replies = await Promise.all(Array.from({ length: 8 }, () => post('equal')))
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
  })

  it('a provider of another format gets the request of the client, not that of the first provider', async () => {
    primary.script = status(529, JSON_TYPE, JSON.stringify(VENDORS.Messages.error('overloaded')))
    const reply = await post('vendors', CHAT, '/v1/chat/completions', { authorization: 'Bearer key' })
    expect(await reply.json()).toEqual(JSON.parse(ANSWER))
    expect(primary.seen[0]).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': 'key' } })
    expect(backup.seen[0]).toMatchObject({ body: CHAT, headers: { authorization: 'Bearer key' } })
    expect(backup.seen[0]?.headers['x-api-key']).toBeUndefined()
  })

  it('a stream moves on as well, and a compressed request', async () => {
    primary.script = status(429)
    const frames = VENDORS.Completions.stream(SCENARIO).join('')
    backup.script = status(200, { 'content-type': 'text/event-stream' }, frames)
    const stream = CHAT.replace('{', '{"stream":true,')
    const reply = await post('two', gzipSync(stream), undefined, { 'content-encoding': 'gzip' })
    expect(await reply.text()).toBe(frames)
  })

  it('a request without a format moves on too, unless its body is too large to keep', async () => {
    primary.script = status(503)
    expect((await post('two', 'any', '/files')).status).toBe(200)
    expect(backup.seen[0]?.body).toBe('any')
    expect((await post('two', 'x'.repeat(65_537), '/files')).status).toBe(503)
  })
})

describe('the client gets', () => {
  it('the last failure if all providers fail', async () => {
    primary.script = status(503)
    backup.script = status(429, { ...JSON_TYPE, 'retry-after': '7' }, '{"error":{"message":"slow down"}}')
    const reply = await post('two')
    expect([reply.status, reply.headers.get('retry-after'), await reply.text()]).toEqual([
      429,
      '7',
      '{"error":{"message":"slow down"}}',
    ])
  })

  it.each([400, 401, 403, 404, 422])('the answer with status %d, which is not a failed try', async (code) => {
    primary.script = status(code, JSON_TYPE, '{}')
    expect((await post('two')).status).toBe(code)
    expect(backup.seen).toHaveLength(0)
  })

  it('the failure of the only provider', async () => {
    primary.script = status(503)
    expect((await post('one')).status).toBe(503)
    expect(primary.seen).toHaveLength(1)
  })

  it('an error event if a stream that has started breaks, and no second stream', async () => {
    const [head = '', ...rest] = VENDORS.Completions.stream(SCENARIO)
    primary.script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(head + (rest[0] ?? ''), () => response.destroy())
    }
    const text = await (await post('two', CHAT.replace('{', '{"stream":true,'))).text()
    expect(text.startsWith(head)).toBe(true)
    expect(text).toContain('"error"')
    expect(backup.seen).toHaveLength(0)
  })
})

describe('many tries', () => {
  it('a request goes to a limited number of providers', async () => {
    primary.script = status(503)
    expect((await post('many')).status).toBe(503)
    expect(primary.seen.map(({ headers }) => headers['x-retry-attempt'])).toEqual([
      undefined,
      ...Array.from({ length: PROVIDERS_MAX - 1 }, (_, i) => String(i + 1)),
    ])
  })

  it('each retry of a policy starts with the first provider', async () => {
    primary.script = status(503)
    backup.script = status(503)
    expect((await post('retried')).status).toBe(503)
    expect([primary.seen.length, backup.seen.length]).toEqual([2, 2])
    expect(backup.seen.map(({ headers }) => headers['x-retry-attempt'])).toEqual(['1', '3'])
  })

  it('a storm of 429 costs one request if the policy evicts, and no client sees it', async () => {
    primary.script = status(429, { 'retry-after': '60' })
    for (let i = 0; i < 5; i++) expect((await post('evicting')).status).toBe(200)
    expect([primary.seen.length, backup.seen.length]).toEqual([1, 5])
  })

  it('a provider that fails every other time is hidden from all clients', async () => {
    primary.script = (response, request, index) => (index % 2 === 0 ? status(502) : answers)(response, request, index)
    const replies = await Promise.all(Array.from({ length: 20 }, () => post('two')))
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
    expect([primary.seen.length, backup.seen.length]).toEqual([20, 10])
  })
})

it('the trace shows each try and the reason', async () => {
  primary.script = status(503)
  const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
  await post('two')
  const events = (await watcher.ended).map(({ message }) => message)
  expect(events.filter(({ type }) => type === 'backendCallStart')).toMatchObject([
    { target: `127.0.0.1:${primary.port}` },
    { target: `127.0.0.1:${backup.port}` },
  ])
  expect(events.filter(({ type }) => type === 'backendCallResult')).toMatchObject([{ status: 503 }, { status: 200 }])
  expect(events).toContainEqual(
    expect.objectContaining({ kind: 'failover', details: 'primary: status 503; failing over to backup' }),
  )
})
