// The texts of requests and answers in expressions, through a real proxy: of all clients, whole and as streams.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AIPolicy, AIProvider } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { defects } from '../exchange/defects.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { type Emulator, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import { FORMATS } from './formats/table.ts'
import type { JsonObject } from './json.ts'
import { logFile } from './log-file.testing.ts'
import { answerTexts, recordPrompt } from './texts.ts'
import { CLIENT_ROUTES, clientRequest } from './translate/client-requests.testing.ts'
import { type Scenario, VENDORS, type VendorName } from './translate/vendors.testing.ts'
import { emptyFacts } from './usage.ts'

const USAGE = { input: 3, cached: 0, output: 2 }
const CALL = { id: 'call_1', name: 'weather', input: '{"city":"Paris"}' }
const SCENARIO: Scenario = { text: 'I look at a@b.co', calls: [CALL], stop: 'toolCalls', usage: USAGE }
const SEEN = {
  prompt: [{ role: 'user', content: 'hi' }],
  completion: ['I look at a@b.co'],
  toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' }],
}
const TEXTS = '{"prompt": llm.prompt, "completion": llm.completion, "toolCalls": llm.toolCalls}'
const CLIENTS = ['Completions', 'Messages', 'Responses', 'GenerateContent'] as const

let emulator: Emulator
let logging: TestProxy
let quiet: TestProxy
let sent: Scenario
let asStream: boolean
const log = logFile()

function provider(type: VendorName | 'Anthropic'): AIProvider['provider'] {
  if (type === 'Anthropic') return { anthropic: {} }
  return type === 'GenerateContent' ? { gemini: {} } : { custom: { formats: [{ type }] } }
}

function routeTo(name: string, type: VendorName | 'Anthropic', ai: AIPolicy = {}) {
  const hostOverride = { host: '127.0.0.1', port: emulator.port }
  return {
    name,
    prefix: `/${name}`,
    backend: {
      ai: { groups: [{ providers: [{ name: 'p', provider: provider(type), hostOverride, pathPrefix: `/${type}` }] }] },
      inlinePolicies: { ai: { ...ai, routes: { ...CLIENT_ROUTES, '/count': 'AnthropicTokenCount' as const } } },
    },
  }
}

beforeAll(async () => {
  emulator = await startEmulator()
  const masks = [
    { rejection: { status: 422, body: 'no' }, regex: { action: 'Mask' as const, builtins: ['Email' as const] } },
  ]
  logging = await testProxy({
    routes: [
      ...CLIENTS.map((type) => routeTo(type.toLowerCase(), type)),
      routeTo('anthropic', 'Anthropic'),
      routeTo('masked', 'Completions', { promptGuard: { streaming: true, request: masks, response: masks } }),
    ],
    policies: [
      {
        key: 'ns/log',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'log' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: {
          frontend: {
            accessLog: {
              add: [
                { name: 'texts', expression: `base64.encode(bytes(toJson(${TEXTS})))` },
                { name: 'counted', expression: 'llm.countTokens' },
              ],
            },
          },
        },
      },
    ],
    settings: log.settings,
  })
  const reading = routeTo('reading', 'Completions')
  quiet = await testProxy({
    routes: [
      {
        ...reading,
        inline: { transformation: { response: { set: [{ name: 'x-texts', expression: 'llm.completion[0]' }] } } },
      },
      {
        ...routeTo('other', 'Completions'),
        inline: {
          transformation: {
            response: {
              set: [
                { name: 'x-texts', expression: 'string(size(llm["completion"]) + size(llm["prompt"]))' },
                { name: 'x-model', expression: 'llm.requestModel' },
              ],
            },
          },
        },
      },
    ],
  })
})

beforeEach(() => {
  sent = SCENARIO
  asStream = false
  emulator.answer = ({ path }, response) => {
    // Gemini has chat completions as well.
    const type = path.endsWith('/completions') ? 'Completions' : CLIENTS.find((name) => path.startsWith(`/${name}`))
    if (type === undefined) throw new Error(`no provider at ${path}`)
    if (asStream) sendEvents(response, VENDORS[type].stream(sent))
    else sendJson(response, VENDORS[type].whole(sent))
  }
})

afterAll(async () => {
  await logging.stop()
  await quiet.stop()
  emulator.stop()
  log.remove()
})

async function ask(gateway: TestProxy, route: string, client: VendorName, fields: object = {}): Promise<Response> {
  const { path, body } = clientRequest(client, fields, asStream)
  const reply = await fetch(`${gateway.url}/${route}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await reply.arrayBuffer()
  return reply
}

let asked = 0

/** What the expression of the log saw. */
async function logged(route: string, client: VendorName, fields: object = {}): Promise<unknown> {
  // The route of each request is a prefix: the path makes its line unique.
  const mark = `n${(asked += 1)}`
  const { status } = await ask(logging, `${route}/${mark}`, client, fields)
  expect(status).toBe(200)
  const [, texts = ''] = / texts="?([\w+/=]+)/.exec(await log.line(`/${mark}/`)) ?? []
  return JSON.parse(Buffer.from(texts, 'base64').toString('utf8'))
}

const PAIRS = CLIENTS.flatMap((client) =>
  CLIENTS.flatMap((upstream) => [false, true].map((isStream) => [client, upstream, isStream] as const)),
)

describe('expressions of the log read prompt, completion and tool calls', () => {
  it.each(PAIRS)('of a client of %s before a provider of %s, stream: %s', async (client, upstream, isStream) => {
    asStream = isStream
    const seen = await logged(upstream.toLowerCase(), client)
    expect(seen).toMatchObject({ ...SEEN, toolCalls: [{ name: 'weather', arguments: '{"city":"Paris"}' }] })
  })

  it.each([false, true])('with the masks of guards, stream: %s', async (isStream) => {
    asStream = isStream
    const seen = await logged('masked', 'Completions', { messages: [{ role: 'user', content: 'from c@d.co' }] })
    expect(JSON.stringify(seen)).not.toMatch(/a@b|c@d/)
    expect(seen).toMatchObject({
      prompt: [{ role: 'user', content: 'from <EMAIL_ADDRESS>' }],
      completion: ['I look at <EMAIL_ADDRESS>'],
    })
  })
})

describe('response policies', () => {
  it('read a whole answer', async () => {
    expect((await ask(quiet, 'reading', 'Completions')).headers.get('x-texts')).toBe('I look at a@b.co')
  })

  it('fail to read the texts of a stream', async () => {
    asStream = true
    expect((await ask(quiet, 'reading', 'Completions')).headers.get('x-texts')).toBeNull()
  })

  it('of a route that does not name them do not make the proxy keep them', async () => {
    const { headers } = await ask(quiet, 'other', 'Completions')
    expect([headers.get('x-model'), headers.get('x-texts')]).toEqual(['m', null])
  })
})

describe('llm.countTokens', () => {
  it('is the answer to a request that counts tokens', async () => {
    emulator.answer = (_, response) => sendJson(response, { input_tokens: 42 })
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${logging.url}/anthropic/count`, { method: 'POST', headers, body })
    expect(await reply.json()).toEqual({ input_tokens: 42 })
    expect(await log.line('/anthropic/')).toContain('counted=42')
  })
})

const READS = { request: true, response: true }

describe('the messages of a prompt', () => {
  const promptOf = (format: VendorName, body: JsonObject, reads = READS): unknown => {
    const exchange = exchangeOf()
    exchange.llm = emptyFacts('p')
    recordPrompt(exchange, reads, body, format)
    return exchange.llm.prompt
  }

  it('have the texts of a message in one, without the arguments of tool calls', () => {
    const body = {
      system: 'Be short.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { city: 'Paris' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'sunny' }, { type: 'text', text: 'c' }] },
      ],
    } // prettier-ignore
    expect(promptOf('Messages', body)).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'a\nb' },
      { role: 'tool', content: 'sunny' },
      { role: 'user', content: 'c' },
    ])
  })

  it('are not kept if no expression reads them', () => {
    expect(promptOf('Responses', { input: 'hi' }, { request: false, response: true })).toBeUndefined()
    expect(promptOf('Responses', { input: 'hi' })).toEqual([{ role: 'user', content: 'hi' }])
  })
})

describe('the texts of an answer', () => {
  const textsOf = (json: JsonObject, sizeMax: number) => {
    const facts = emptyFacts('p')
    const texts = answerTexts(exchangeOf(), READS, { client: FORMATS.Completions, facts, sizeMax })
    texts?.answer(json)
    return facts.answer
  }

  it.each([
    [30, 'x'.repeat(30), ''],
    [55, 'x'.repeat(50), '{"cit'],
  ])('end at a limit of %i characters', (sizeMax, text, args) => {
    const seen = textsOf(VENDORS.Completions.whole({ ...SCENARIO, text: 'x'.repeat(50) }), sizeMax)
    expect(seen?.completion).toEqual([text])
    expect(seen?.toolCalls.map((call) => call.arguments).join('')).toBe(args)
  })

  it('end where a defect of the proxy prevents reading, without an end of the answer', () => {
    const before = defects.count
    const broken = {
      get choices(): never {
        throw new TypeError('a bug')
      },
    }
    expect(textsOf(broken, 50)).toMatchObject({ completion: [], toolCalls: [] })
    expect(defects.count).toBe(before + 1)
  })

  it('are at most 10000 parts', () => {
    const calls = Array.from({ length: 10_001 }, (_, i) => ({ id: `c${i}`, name: 'f', input: '{}' }))
    expect(textsOf(VENDORS.Completions.whole({ calls, stop: 'toolCalls', usage: USAGE }), 1e6)?.toolCalls).toHaveLength(
      10_000,
    )
  })
})
