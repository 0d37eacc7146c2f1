// Route type Detect: bytes pass unchanged, and model, usage and first token are in the access log.
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { type Script, scriptedUpstream, type ScriptedUpstream } from '../backend/scripted-upstream.testing.ts'
import { logFile } from './log-file.testing.ts'
import { converseAnswer, converseStream } from './translate/converse.testing.ts'
import { VENDORS } from './translate/vendors.testing.ts'

const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 30, cached: 10, output: 20 } } as const
const USAGE = [
  'gen_ai.usage.input_tokens=30',
  'gen_ai.usage.cache_read.input_tokens=10',
  'gen_ai.usage.output_tokens=20',
]
const FIRST_TOKEN = 'gw.ai.time_to_first_token='

let upstream: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  upstream = await scriptedUpstream(() => undefined)
  const hostOverride = { host: '127.0.0.1', port: upstream.port }
  gateway = await testProxy({
    routes: [
      {
        name: 'detect',
        prefix: '/',
        backend: {
          ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} }, hostOverride }] }] },
          inlinePolicies: {
            ai: { routes: { '*': 'Detect' } },
            responseHeaderModifier: { set: [{ name: 'x-own', value: '1' }] },
          },
        },
        inline: {
          rateLimit: {
            limits: [{ unit: 'Tokens', tokensPerFill: 1_000_000, fillIntervalMs: 3_600_000, tokensMax: 1_000_000 }],
          },
        },
      },
    ],
    settings: log.settings,
  })
})

beforeEach(() => {
  upstream.seen.length = 0
})

afterAll(async () => {
  await gateway.stop()
  upstream.stop()
  log.remove()
})

const send =
  (body: string | Buffer, headers: Readonly<Record<string, string>>): Script =>
  (response) => {
    response.writeHead(200, headers)
    response.end(body)
  }

/** In pieces that split events, lines and characters. */
const sendPieces =
  (body: Buffer, headers: Readonly<Record<string, string>>): Script =>
  (response) => {
    response.writeHead(200, headers)
    for (let at = 0; at < body.length; at += 7) response.write(body.subarray(at, at + 7))
    response.end()
  }

const REQUEST = '{ "model":"asked", "n":12345678901234567890, "stream" : true }\n'
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const SSE_TYPE = { 'content-type': 'Text/Event-Stream' }
const AWS_TYPE = { 'content-type': 'application/vnd.amazon.eventstream' }

let count = 0
interface Sent {
  readonly body: Buffer
  readonly line: string
}

async function sent(
  body: string | Buffer = REQUEST,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
  path = '/any',
): Promise<Sent> {
  const mark = `case-${++count}`
  // fetch would decode the response.
  const reply = await fetch(`${gateway.url}${path}?${mark}`, { method: 'POST', body, headers })
  return { body: Buffer.from(await reply.arrayBuffer()), line: await log.line(mark) }
}

const WHOLE: Readonly<Record<string, object>> = {
  'chat completions': VENDORS.Completions.whole(SCENARIO),
  messages: VENDORS.Messages.whole(SCENARIO),
  responses: VENDORS.Responses.whole(SCENARIO),
  generateContent: VENDORS.GenerateContent.whole(SCENARIO),
  'a list of generateContent': [VENDORS.GenerateContent.whole(SCENARIO)],
  Converse: converseAnswer(SCENARIO),
  images: {
    created: 1,
    data: [{ b64_json: 'AA==' }],
    usage: { input_tokens: 30, input_tokens_details: { cached_tokens: 10 }, output_tokens: 20, total_tokens: 50 },
  },
}

const STREAMS: Readonly<Record<string, readonly [headers: Readonly<Record<string, string>>, body: Buffer]>> = {
  'chat completions': [SSE_TYPE, Buffer.from(VENDORS.Completions.stream(SCENARIO).join(''))],
  messages: [SSE_TYPE, Buffer.from(VENDORS.Messages.stream(SCENARIO).join(''))],
  responses: [SSE_TYPE, Buffer.from(VENDORS.Responses.stream(SCENARIO).join(''))],
  generateContent: [SSE_TYPE, Buffer.from(VENDORS.GenerateContent.stream(SCENARIO).join(''))],
  Converse: [AWS_TYPE, Buffer.concat(converseStream(SCENARIO))],
}

describe('an answer that is forwarded', () => {
  it.each(Object.entries(WHOLE))('shows its usage: %s', async (_, answer) => {
    const text = ` ${JSON.stringify(answer)}\n`
    upstream.script = send(text, JSON_TYPE)
    const { body, line } = await sent()
    expect(body.toString()).toBe(text)
    for (const field of [...USAGE, 'gen_ai.request.model=asked']) expect(line).toContain(field)
    expect(upstream.seen[0]?.body).toBe(REQUEST)
  })

  it.each(Object.entries(STREAMS))('shows usage and first token of a stream: %s', async (_, [headers, bytes]) => {
    upstream.script = sendPieces(bytes, headers)
    const { body, line } = await sent()
    expect(body.equals(bytes)).toBe(true)
    for (const field of [...USAGE, FIRST_TOKEN]) expect(line).toContain(field)
    expect(line).not.toContain('error=')
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('stays compressed: %s', async (encoding, compress) => {
    const [headers, bytes] = STREAMS['messages'] ?? [{}, Buffer.alloc(0)]
    for (const [type, plain] of [
      [headers, bytes],
      [JSON_TYPE, Buffer.from(JSON.stringify(WHOLE['messages']))],
    ] as const) {
      upstream.script = sendPieces(compress(plain), { ...type, 'content-encoding': encoding })
      const { body, line } = await sent()
      expect(body.equals(plain)).toBe(true)
      for (const field of USAGE) expect(line).toContain(field)
    }
  })

  it('embeddings have their own operation', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [0.1] }]
    upstream.script = send(
      JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 4, total_tokens: 4 } }),
      JSON_TYPE,
    )
    const { line } = await sent()
    expect(line).toContain('gen_ai.operation.name=embeddings')
    expect(line).toContain('gen_ai.usage.input_tokens=4')
  })

  it('an event of a model of InvokeModelWithResponseStream is read as well', async () => {
    const inner = Buffer.from(JSON.stringify(WHOLE['messages'])).toString('base64')
    upstream.script = send(`data: {"bytes":"${inner}"}\n\n`, SSE_TYPE)
    expect((await sent()).line).toContain(USAGE[0])
  })
})

describe('the model', () => {
  it.each([
    ['/v1beta/models/gemini-3:streamGenerateContent', 'gemini-3'],
    ['/model/arn%3Aaws%2Fx/converse', 'arn:aws/x'],
    ['/models/%ff:generateContent', '%ff'],
  ])('comes from the path %s', async (path, model) => {
    upstream.script = send('{}', JSON_TYPE)
    const { line } = await sent('{}', JSON_TYPE, path)
    expect(line).toContain(`gen_ai.request.model=${model}`)
  })

  it('comes from a form', async () => {
    upstream.script = send('{}', JSON_TYPE)
    const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-image\r\n--b--\r\n'
    const { line } = await sent(form, { 'content-type': 'multipart/form-data; boundary=b' })
    expect(line).toContain('gen_ai.request.model=gpt-image')
    expect(upstream.seen[0]?.body).toBe(form)
  })

  it('comes from a compressed request', async () => {
    upstream.script = send('{}', JSON_TYPE)
    const { line } = await sent(gzipSync(REQUEST), { ...JSON_TYPE, 'content-encoding': 'gzip' })
    expect(line).toContain('gen_ai.request.model=asked')
  })
})

describe('what cannot be read passes unchanged', () => {
  const LARGE = `{"usage":{"prompt_tokens":1},"pad":"${'x'.repeat(2_500_000)}"}`

  it.each<[name: string, body: string | Buffer, headers: Record<string, string>, error: string | undefined]>([
    ['a large answer', LARGE, JSON_TYPE, 'it is larger than 2097152 bytes'],
    ['a large event', `data: ${LARGE}\n\n`, SSE_TYPE, 'an event is larger than 2097152 bytes'],
    ['a compressed bomb', gzipSync(LARGE), { ...JSON_TYPE, 'content-encoding': 'gzip' }, 'token usage was not read'],
    ['an unknown encoding', 'xyz', { ...JSON_TYPE, 'content-encoding': 'rot13' }, 'rot13 is not supported'],
    ['a broken event stream of AWS', Buffer.alloc(64, 7), AWS_TYPE, 'token usage was not read'],
    ['truncated JSON', '{"usage":{"prompt', JSON_TYPE, undefined],
    ['an image', Buffer.from([137, 80, 78, 71]), { 'content-type': 'image/png' }, undefined],
  ])('%s', async (_, bytes, headers, error) => {
    upstream.script = send(bytes, headers)
    const { body, line } = await sent()
    const isDecodedByFetch = headers['content-encoding'] === 'gzip'
    expect(body.equals(isDecodedByFetch ? Buffer.from(LARGE) : Buffer.from(bytes))).toBe(true)
    expect(line).not.toContain('gen_ai.usage.input_tokens')
    if (error === undefined) expect(line).not.toContain('error=')
    else expect(line).toContain(error)
  })

  it('a request that is not JSON, or is too large', async () => {
    upstream.script = send('{}', JSON_TYPE)
    for (const body of ['[', `{"model":"${'m'.repeat(2_097_152)}"}`]) {
      expect((await sent(body)).line).not.toContain('gen_ai.request.model')
      expect(upstream.seen.at(-1)?.body).toBe(body)
    }
  })
})

it('tokens of an answer are charged to a limit, and response policies of the backend apply', async () => {
  upstream.script = send(JSON.stringify(WHOLE['messages']), JSON_TYPE)
  const ask = () => fetch(`${gateway.url}/limit`, { method: 'POST', body: REQUEST, headers: JSON_TYPE })
  const before = await ask()
  await before.text()
  const after = await ask()
  await after.text()
  expect(before.headers.get('x-own')).toBe('1')
  const left = [before, after].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
  expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(50)
})
