// Realtime: a WebSocket client of a provider through the gateway, with model and usage in the access log.
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { offeredCatalog } from './cost/offered-catalog.ts'
import { logFile } from './log-file.testing.ts'

const USAGE = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { cached_tokens: 5, text_tokens: 12, audio_tokens: 8 },
  output_token_details: { text_tokens: 4, audio_tokens: 6 },
}

/** As documented for gpt-4o-transcribe, and for whisper-1, which bills time. */
const TRANSCRIPTS = [
  { type: 'tokens', total_tokens: 35, input_tokens: 30, output_tokens: 5, input_token_details: { audio_tokens: 20 } },
  { type: 'duration', seconds: 2.5 },
]
const TRANSCRIPTION = 'gpt-4o-transcribe'

let upstream: Server
let sockets: WebSocketServer
let gateway: TestProxy
let asked: IncomingMessage | undefined
/** The model of a `session.update` that the provider got. */
let updated: string | undefined
const log = logFile()

beforeAll(async () => {
  upstream = createServer((_, response) => response.end('{}'))
  sockets = new WebSocketServer({ server: upstream, perMessageDeflate: true })
  sockets.on('connection', (socket, request) => {
    asked = request
    const send = (event: object): void => socket.send(JSON.stringify(event))
    send({ type: 'session.created', session: { model: 'gpt-realtime-2' } })
    socket.on('message', (data: Buffer) => {
      const { type, session } = JSON.parse(data.toString()) as { type: string; session?: { model?: string } }
      updated = session?.model ?? updated
      if (type === 'large') send({ type: 'large', text: 'x'.repeat(2_200_000) })
      if (type === 'speech') {
        send({ type: 'session.updated', session: { audio: { input: { transcription: { model: TRANSCRIPTION } } } } })
        for (const usage of TRANSCRIPTS) {
          send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'hi', usage })
        }
      }
      send({ type: 'response.text.delta', delta: 'hello' })
      send({ type: 'response.done', response: { usage: USAGE } })
    })
  })
  const open = { host: '127.0.0.1', port: await listening(upstream) }
  const closed = { host: '127.0.0.1', port: await freePort() }
  const provider = (name: string, hostOverride: typeof open, settings: object) => ({
    name,
    provider: settings,
    hostOverride,
  })
  const backend = (...providers: ReturnType<typeof provider>[]) => ({
    ai: { groups: providers.map((one) => ({ providers: [one] })) },
    inlinePolicies: {
      auth: { key: { secret: 'ns/keys/k' } },
      ai: { routes: { '/v1/realtime': 'Realtime' } as const, modelAliases: { fast: 'gpt-realtime' } },
    },
  })
  gateway = await testProxy({
    secrets: { 'ns/keys/k': 'sk-test' },
    routes: [
      { name: 'one', prefix: '/one', backend: backend(provider('p', open, { openai: {} })) },
      {
        name: 'two',
        prefix: '/two',
        backend: backend(provider('gone', closed, { openai: {} }), provider('p', open, { openai: { model: 'other' } })),
      },
      {
        name: 'limited',
        prefix: '/limited',
        backend: backend(provider('p', open, { openai: {} })),
        inline: {
          rateLimit: { limits: [{ unit: 'Tokens', tokensPerFill: 65, fillIntervalMs: 3_600_000, tokensMax: 65 }] },
        },
      },
      { name: 'claude', prefix: '/claude', backend: backend(provider('p', open, { anthropic: {} })) },
    ],
    settings: log.settings,
  })
})

beforeEach(() => {
  asked = undefined
  updated = undefined
})

afterAll(async () => {
  await gateway.stop()
  sockets.close()
  closeServer(upstream)
  log.remove()
})

/** The same for all tokens, in 10⁻¹² USD. */
const rates = (rate: bigint) => ({ rates: { input: rate, output: rate }, tiers: undefined, tags: [] })

/** Sends events, or events of these types, reads the answers, and closes. @returns types of the events that arrived */
async function talk(path: string, types: readonly (string | object)[]): Promise<string[]> {
  const socket = new WebSocket(gateway.url.replace('http', 'ws') + path)
  const seen: string[] = []
  let left = types.length
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () =>
      types.forEach((type) => socket.send(JSON.stringify(typeof type === 'string' ? { type } : type))),
    )
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string }
      seen.push(type)
      if (type === 'response.done' && --left === 0) socket.close()
    })
    socket.on('close', () => resolve())
  })
  return seen
}

describe('a Realtime session', () => {
  it('reaches the provider with its key and model, and the usage of all answers is in the log', async () => {
    const seen = await talk('/one/v1/realtime?model=fast&x=1', ['response.create', 'response.create'])
    expect(seen).toEqual([
      'session.created',
      'response.text.delta',
      'response.done',
      'response.text.delta',
      'response.done',
    ])
    expect(asked?.url).toBe('/one/v1/realtime?model=gpt-realtime&x=1')
    expect(asked?.headers).toMatchObject({ authorization: 'Bearer sk-test' })
    expect(asked?.headers['sec-websocket-extensions']).toBeUndefined()
    const line = await log.line('/one/v1/realtime?model=gpt-realtime&x=1')
    for (const field of [
      'http.status=101',
      'gen_ai.request.model=gpt-realtime ',
      'gen_ai.response.model=gpt-realtime-2',
      'gen_ai.usage.input_tokens=40',
      'gen_ai.usage.cache_read.input_tokens=10',
      'gen_ai.usage.output_tokens=20',
      'gen_ai.usage.input_audio_tokens=16',
      'gw.ai.time_to_first_token=',
    ]) {
      expect(line).toContain(field)
    }
  })

  it('counts transcriptions of what the user says for their own model', async () => {
    const prices = { 'gpt-realtime-2': rates(4_000_000n), [TRANSCRIPTION]: rates(6_000_000n) }
    gateway.proxy.setModelCatalog(
      offeredCatalog([{ name: 'prices', catalog: new Map([['openai', new Map(Object.entries(prices))]]) }]),
    )
    await talk('/limited/v1/realtime?model=m', ['speech'])
    const line = await log.line('/limited/v1/realtime?model=m')
    for (const field of [
      'gen_ai.usage.input_tokens=20',
      'gw.ai.transcription.model=gpt-4o-transcribe',
      'gw.ai.transcription.input_tokens=30',
      'gw.ai.transcription.output_tokens=5',
      'gw.ai.transcription.seconds=2.5',
      // 30 tokens of the answer, 35 of the transcription.
      'gw.ai.usage.cost.total=0.00033',
    ]) {
      expect(line).toContain(field)
    }
    const metrics = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
    expect(metrics).toMatch(
      /gen_ai_client_token_usage_sum{gen_ai_token_type="input",[^}]*gen_ai_request_model="gpt-4o-transcribe",[^}]*} 30\n/,
    )
    // The limit of 65 tokens is used up.
    const next = await fetch(`${gateway.url}/limited/v1/realtime?model=m`)
    expect([next.status, next.headers.get('x-ratelimit-remaining')]).toEqual([429, '0'])
  })

  it('may name its model in an event: the provider gets it, and it is in the log', async () => {
    const update = { type: 'session.update', session: { type: 'realtime', model: 'fast' } }
    await talk('/one/v1/realtime?x=2', [update])
    expect([asked?.url, updated]).toEqual(['/one/v1/realtime?x=2', 'gpt-realtime'])
    expect(await log.line('/one/v1/realtime?x=2')).toContain('gen_ai.request.model=gpt-realtime ')
  })

  it('has the model of its provider, if that has one', async () => {
    await talk('/two/v1/realtime', [{ type: 'session.update', session: { model: 'fast' } }])
    expect([asked?.url, updated]).toEqual(['/two/v1/realtime?model=other', 'other'])
  })

  it('goes to the next provider if the first one cannot be connected', async () => {
    expect(await talk('/two/v1/realtime?model=fast', ['response.create'])).toContain('response.done')
    expect(asked?.url).toBe('/two/v1/realtime?model=other')
    expect(asked?.headers['x-retry-attempt']).toBe('1')
  })

  it('continues behind a message that is too large to be read', async () => {
    expect(await talk('/one/v1/realtime?model=big', ['large', 'response.create'])).toEqual([
      'session.created',
      'large',
      'response.text.delta',
      'response.done',
      'response.text.delta',
      'response.done',
    ])
    const line = await log.line('/one/v1/realtime?model=big')
    expect(line).toContain('error="token usage was not read from the response: a message is larger than 2097152 bytes"')
  })
})

describe('a request that is refused', () => {
  it.each([
    [
      'for another provider',
      '/claude/v1/realtime?model=m',
      'unsupported conversion: from Realtime to provider anthropic',
    ],
  ])('%s', async (_, path, cause) => {
    const refused = new Promise<[number | undefined, string]>((resolve) => {
      const socket = new WebSocket(gateway.url.replace('http', 'ws') + path)
      socket.on('unexpected-response', (__, response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve([response.statusCode, text]))
      })
    })
    expect(await refused).toEqual([400, expect.stringContaining(`"failed to process LLM request: ${cause}"`)])
    expect(asked).toBeUndefined()
  })

  it('without a WebSocket', async () => {
    const reply = await fetch(`${gateway.url}/one/v1/realtime?model=m`)
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('a WebSocket is required')])
  })
})
