// A stream that starts with an error is a failed try: the next provider answers, whatever the formats of both are.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AIProvider } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { reset, type Script, scriptedUpstream, type ScriptedUpstream } from '../backend/scripted-upstream.testing.ts'
import { watchTrace } from '../trace/watcher.testing.ts'
import { logFile } from './log-file.testing.ts'
import { CLIENT_ROUTES, clientRequest } from './translate/client-requests.testing.ts'
import { converseException, converseStream } from './translate/converse.testing.ts'
import { VENDORS, type VendorName } from './translate/vendors.testing.ts'

const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 3, cached: 0, output: 2 } } as const
const SSE = { 'content-type': 'text/event-stream' }
const AWS = { 'content-type': 'application/vnd.amazon.eventstream' }
const stream =
  (chunk: string | Buffer, headers: Readonly<Record<string, string>> = SSE): Script =>
  (response) => {
    response.writeHead(200, headers)
    response.end(chunk)
  }

const answers = stream(VENDORS.Completions.stream(SCENARIO).join(''))

const KEYS = { accessKey: { secret: 'n/k/id' }, secretKey: { secret: 'n/k/key' } }

/** What the first provider is, and how its streams report that it is overloaded. */
const PRIMARIES: Readonly<
  Record<string, { readonly provider: AIProvider['provider']; readonly script: Script; readonly status: number }>
> = {
  completions: {
    provider: { custom: { formats: [{ type: 'Completions' }] } },
    script: stream(VENDORS.Completions.errorFrame('m')),
    status: 500,
  },
  messages: { provider: { anthropic: {} }, script: stream(VENDORS.Messages.errorFrame('m')), status: 529 },
  responses: {
    provider: { custom: { formats: [{ type: 'Responses' }] } },
    script: stream(VENDORS.Responses.errorFrame('m')),
    status: 500,
  },
  gemini: { provider: { gemini: {} }, script: stream(VENDORS.GenerateContent.errorFrame('m')), status: 500 },
  converse: {
    provider: { bedrock: { region: 'us-west-2' } },
    script: stream(converseException('throttlingException', 'm'), AWS),
    status: 429,
  },
}

let primary: ScriptedUpstream
let backup: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  primary = await scriptedUpstream(answers)
  backup = await scriptedUpstream(answers)
  const provider = (name: string, port: number, settings: AIProvider['provider']): AIProvider => ({
    name,
    provider: settings,
    hostOverride: { host: '127.0.0.1', port },
    ...('bedrock' in settings && { inlinePolicies: { auth: { cloudA: { secretRef: KEYS } } } }),
  })
  const last = provider('backup', backup.port, { custom: { formats: [{ type: 'Completions' }] } })
  const route = (name: string, providers: readonly AIProvider[]) => ({
    name,
    prefix: `/${name}`,
    backend: {
      ai: { groups: providers.map((one) => ({ providers: [one] })) },
      inlinePolicies: { ai: { routes: CLIENT_ROUTES } },
    },
  })
  const first = Object.entries(PRIMARIES).map(([name, one]) => [
    name,
    provider('primary', primary.port, one.provider),
  ]) satisfies [string, AIProvider][]
  gateway = await testProxy({
    secrets: { 'n/k/id': 'AKIATEST', 'n/k/key': 'planted-secret' },
    routes: [
      ...first.map(([name, one]) => route(name, [one, last])),
      ...first.map(([name, one]) => route(`only-${name}`, [one])),
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

let requests = 0

async function ask(route: string, client: VendorName = 'Completions') {
  const { path, body } = clientRequest(client, {}, true)
  const id = `/${route}/${++requests}`
  const reply = await fetch(`${gateway.url}${id}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text(), id }
}

const CLIENTS: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const hello: Readonly<Record<VendorName, RegExp>> = {
  Completions: /"content":"hello"/,
  Messages: /"text_delta","text":"hello"/,
  Responses: /response.output_text.delta.*"delta":"hello"/,
  GenerateContent: /"text":"hello"/,
}

describe.each(Object.entries(PRIMARIES))('a stream of %s that starts with an error', (name, { script, status }) => {
  it.each(CLIENTS)('is hidden from a client of %s: the next provider answers', async (client) => {
    primary.script = script
    const reply = await ask(name, client)
    expect(reply).toMatchObject({ status: 200, type: 'text/event-stream', text: expect.stringMatching(hello[client]) })
    expect(reply.text).not.toContain('"error":{')
    expect([primary.seen.length, backup.seen.length]).toEqual([1, 1])
    expect(backup.seen[0]?.headers['x-retry-attempt']).toBe('1')
    const line = await log.line(`${reply.id}/`)
    expect(line).toContain(`gw.ai.failed_providers="primary: status ${status}" retry.attempt=1`)
    expect(line).toContain('gen_ai.usage.input_tokens=3')
    expect(line).not.toContain('reason=')
  })

  it('reaches the client as an event if there is no other provider', async () => {
    primary.script = script
    const reply = await ask(`only-${name}`)
    expect([reply.status, reply.type]).toEqual([200, 'text/event-stream'])
    expect(reply.text).toContain('"error":{')
    expect(await log.line(`${reply.id}/`)).toContain('reason=UpstreamFailure')
  })
})

it.each<readonly [string, Script]>([
  ['is empty', stream('')],
  ['closes the connection before its first event', reset],
  [
    'breaks before its first content',
    (response) => {
      response.writeHead(200, SSE)
      response.write(VENDORS.Messages.stream(SCENARIO)[0], () => response.destroy())
    },
  ],
  ['is not compressed as it announces', stream('data: {}\n\n', { ...SSE, 'content-encoding': 'gzip' })],
])('a stream that %s is a failed try', async (_name, script) => {
  primary.script = script
  expect(await ask('messages')).toMatchObject({ status: 200, text: expect.stringMatching(hello.Completions) })
  expect(backup.seen).toHaveLength(1)
})

it('an error of the request itself is not repeated elsewhere', async () => {
  const error = { type: 'error', error: { type: 'invalid_request_error', message: 'no such tool' } }
  primary.script = stream(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
  const { status, text } = await ask('messages')
  expect([status, text]).toEqual([200, expect.stringContaining('no such tool')])
  expect(backup.seen).toHaveLength(0)
})

it('an error after content is an event for the client', async () => {
  const frames = VENDORS.Messages.stream(SCENARIO).slice(0, 4)
  primary.script = stream([...frames, VENDORS.Messages.errorFrame('too late')].join(''))
  expect((await ask('messages', 'Messages')).text).toBe([...frames, VENDORS.Messages.errorFrame('too late')].join(''))
  expect(backup.seen).toHaveLength(0)
})

it('the client gets the last failure if all providers fail', async () => {
  primary.script = PRIMARIES['messages']?.script ?? answers
  backup.script = stream(VENDORS.Completions.errorFrame('busy as well'))
  const { status, text } = await ask('messages')
  expect([status, text]).toEqual([200, VENDORS.Completions.errorFrame('busy as well')])
})

it('a stream of a provider that answers arrives unchanged', async () => {
  const bytes = Buffer.concat(converseStream(SCENARIO))
  primary.script = stream(bytes, AWS)
  expect((await ask('converse')).text).toMatch(hello.Completions)
  const text = VENDORS.Messages.stream(SCENARIO).join('')
  primary.script = stream(text)
  expect((await ask('messages', 'Messages')).text).toBe(text)
  expect(backup.seen).toHaveLength(0)
})

it('the trace shows the error of the first try', async () => {
  primary.script = PRIMARIES['messages']?.script ?? answers
  const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
  await ask('messages')
  const events = (await watcher.ended).map(({ message }) => message)
  expect(events.filter(({ kind }) => kind === 'failover').map(({ details }) => details)).toEqual([
    'the stream of the provider starts with an error: overloaded',
    'primary: status 529; failing over to backup',
  ])
})
