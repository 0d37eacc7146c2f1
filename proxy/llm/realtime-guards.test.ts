// Guards on a Realtime session. Of requests: events of the client are masked, rejected, or not passed on because they
// cannot be checked. Of responses: texts and transcripts of the provider.
// @module-tag full
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:http2'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { PromptGuard } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { scriptedUpstream, type ScriptedUpstream, status } from '../backend/scripted-upstream.testing.ts'
import { textMessage, WebSocketMessages } from '../http/websocket-messages.ts'
import { logFile } from './log-file.testing.ts'

const REJECTION = { status: 403, body: 'Not allowed.' }
const EMAIL: PromptGuard = { request: [{ regex: { builtins: ['Email'], action: 'Mask' }, rejection: REJECTION }] }
const CARD: PromptGuard = { request: [{ regex: { builtins: ['CreditCard'], action: 'Reject' }, rejection: REJECTION }] }
const STREAMS: PromptGuard = {
  streaming: true,
  response: [{ regex: { builtins: ['Email'], action: 'Mask' }, rejection: REJECTION }],
}
const WHOLE_ANSWERS: PromptGuard = {
  response: [{ regex: { builtins: ['Email'], action: 'Mask' }, rejection: REJECTION }],
}
const FAILING_ANSWERS: PromptGuard = {
  streaming: true,
  response: [{ webhook: { service: { backend: 'ns/gone' }, failureMode: 'FailClosed' }, rejection: REJECTION }],
}
const asking = (backend: string): PromptGuard => ({
  request: [{ webhook: { service: { backend }, failureMode: 'FailClosed' }, rejection: REJECTION }],
})

let upstream: Server
let sockets: WebSocketServer
let provider: WebSocket | undefined
let hook: ScriptedUpstream
let gateway: TestProxy
/** Messages that the provider got. */
const got: string[] = []
const log = logFile()

beforeAll(async () => {
  hook = await scriptedUpstream(status(200, { 'content-type': 'application/json' }, '{"action":{"reason":"fine"}}'))
  upstream = createServer()
  sockets = new WebSocketServer({ server: upstream })
  sockets.on('connection', (socket) => {
    provider = socket
    socket.send('{"type":"session.created","session":{"model":"gpt-realtime"}}')
    socket.on('message', (data: Buffer) => got.push(data.toString()))
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  const route = (name: string, promptGuard: PromptGuard, timeouts = {}) => ({
    name,
    prefix: `/${name}`,
    inline: timeouts,
    backend: {
      ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} }, hostOverride }] }] },
      inlinePolicies: { ai: { routes: { '/v1/realtime': 'Realtime' } as const, promptGuard } },
    },
  })
  gateway = await testProxy({
    routes: [
      route('email', EMAIL),
      route('card', CARD),
      route('hasty', asking('ns/hook'), { timeouts: { requestMs: 1000 } }),
      route('gone', asking('ns/gone')),
      { name: 'hook', prefix: '/hook', backend: { static: { host: '127.0.0.1', port: hook.port } } },
      route('streams', STREAMS),
      route('answers', WHOLE_ANSWERS),
      route('failing', FAILING_ANSWERS),
    ],
    settings: log.settings,
  })
})

beforeEach(() => {
  got.length = 0
  provider = undefined
})

afterAll(async () => {
  await gateway.stop()
  sockets.close()
  closeServer(upstream)
  hook.stop()
  log.remove()
})

interface Session {
  readonly socket: WebSocket
  /** What arrived. */
  readonly seen: string[]
  readonly closed: Promise<readonly [code: number, reason: string]>
}

let sessions = 0

/** After the first event of the provider. */
async function open(route: string): Promise<Session & { readonly id: string }> {
  const id = `m${++sessions}`
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/${route}/v1/realtime?model=${id}`)
  const seen: string[] = []
  socket.on('message', (data: Buffer) => seen.push(data.toString()))
  const closed = new Promise<readonly [number, string]>((resolve, reject) => {
    socket.on('close', (code, reason: Buffer) => resolve([code, reason.toString()]))
    socket.on('error', reject)
  })
  await until('the first event', () => seen.length === 1)
  return { socket, seen, closed, id }
}

const item = (text: string) =>
  `{"type": "conversation.item.create", "event_id": "e1", "n": 1.0, "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ${JSON.stringify(text)}}]}}`

const arrived = (count: number): Promise<void> => until(`${count} messages`, () => got.length === count)

describe('texts of the client', () => {
  it.each<readonly [string, string, string]>([
    ['an item', item('to a@b.example, please'), item('to <EMAIL_ADDRESS> please').replace('> please', '>, please')],
    [
      'instructions of a session',
      '{"type":"session.update","session":{"instructions":"write to a@b.example","audio":{"output":{"voice":"v"}}}}',
      '{"type":"session.update","session":{"instructions":"write to <EMAIL_ADDRESS>","audio":{"output":{"voice":"v"}}}}',
    ],
    [
      'instructions and input of a response',
      '{"type":"response.create","response":{"instructions":"a@b.example","input":[{"content":[{"text":"a@b.example"}]}]}}',
      '{"type":"response.create","response":{"instructions":"<EMAIL_ADDRESS>","input":[{"content":[{"text":"<EMAIL_ADDRESS>"}]}]}}',
    ],
    [
      'the result of a tool',
      '{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"{\\"to\\":\\"a@b.example\\"}"}}',
      '{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"{\\"to\\":\\"<EMAIL_ADDRESS>\\"}"}}',
    ],
    [
      'a transcript in the history',
      '{"type":"conversation.item.create","item":{"role":"user","content":[{"type":"input_audio","transcript":"a@b.example"}]}}',
      '{"type":"conversation.item.create","item":{"role":"user","content":[{"type":"input_audio","transcript":"<EMAIL_ADDRESS>"}]}}',
    ],
  ])('are masked: %s', async (_, sent, masked) => {
    const { socket, id } = await open('email')
    socket.send(sent)
    await arrived(1)
    expect(got).toEqual([masked])
    socket.close()
    const line = await log.line(`model=${id} `)
    expect(line).toContain('gw.ai.guards="Request regex Mask (Email)"')
  })

  it('are unchanged without a match, and large ones as well', async () => {
    const { socket } = await open('email')
    const events = [item('hello'), item('x'.repeat(500_000)), '{"type":"response.cancel"}']
    for (const event of events) socket.send(event)
    await arrived(3)
    expect(got).toEqual(events)
    socket.close()
  })

  it('in several frames are checked as one message', async () => {
    const { socket } = await open('email')
    const text = item('to a@b.example')
    socket.send(text.slice(0, text.indexOf('@')), { fin: false })
    socket.send(text.slice(text.indexOf('@')), { fin: true })
    await arrived(1)
    expect(got).toEqual([item('to <EMAIL_ADDRESS>')])
    socket.close()
  })

  it('are checked after the time for the request, too', async () => {
    const opened = performance.now()
    const { socket } = await open('hasty')
    await until('the end of the time', () => performance.now() - opened > 1200)
    socket.send(item('hello'))
    await arrived(1)
    expect(got).toEqual([item('hello')])
    expect(hook.seen).toHaveLength(1)
    socket.close()
  })
})

describe('an event that is rejected', () => {
  const card = item('my card: 4111 1111 1111 1111')

  it.each<readonly [string, string, string, string]>([
    ['by a guard', 'card', card, 'Not allowed.'],
    ['because a guard fails', 'gone', item('hi'), 'prompt guard failed'],
    [
      'with audio',
      'email',
      '{"type":"input_audio_buffer.append","audio":"AAAA","event_id":"e1"}',
      'events of this type',
    ],
    [
      'with audio in an item',
      'email',
      '{"type":"conversation.item.create","event_id":"e1","item":{"content":[{"type":"input_audio","Audio":"AAAA"}]}}',
      'guards cannot check audio',
    ],
    ['of an unknown type', 'email', '{"type":"session.future","event_id":"e1"}', 'events of this type'],
  ])(
    '%s does not reach the provider: the client gets an error, and the session continues',
    async (_, route, text, why) => {
      const { socket, seen, id } = await open(route)
      socket.send(text)
      await until('the error', () => seen.length === 2)
      const error = JSON.parse(seen[1] ?? '') as unknown
      expect(error).toMatchObject({
        type: 'error',
        event_id: 'event_gw_1',
        error: { type: 'invalid_request_error', message: expect.stringContaining(why) as string, event_id: 'e1' },
      })
      socket.send('{"type":"response.cancel"}')
      await arrived(1)
      provider?.send('{"type":"response.done"}')
      await until('the answer', () => seen.length === 3)
      expect(got).toEqual(['{"type":"response.cancel"}'])
      socket.close()
      const line = await log.line(`model=${id} `)
      expect(line).toContain('reason=Guardrail')
      expect(line).not.toContain('4111')
    },
  )

  it('with a member twice reaches the provider with the one that was checked', async () => {
    const { socket } = await open('email')
    socket.send('{"type":"session.update","type":"response.cancel","session":{"instructions":"a@b.example"}}')
    await arrived(1)
    expect(got).toEqual(['{"type":"response.cancel","session":{"instructions":"a@b.example"}}'])
    socket.close()
  })

  it('without JSON gets an error as well', async () => {
    const { socket, seen } = await open('email')
    socket.send('[1]')
    await until('the error', () => seen.length === 2)
    expect(seen[1]).toContain('the message is not a JSON object')
    socket.close()
  })
})

describe('a session ends', () => {
  it('at a binary message', async () => {
    const { socket, closed } = await open('email')
    socket.send(Buffer.from([1, 2, 3]))
    expect(await closed).toEqual([1008, 'guards cannot check binary messages'])
    expect(got).toEqual([])
    await until('the end of the provider', () => provider?.readyState === WebSocket.CLOSED)
  })

  it('at a message over the limit', async () => {
    const { socket, closed } = await open('email')
    socket.send(item('x'.repeat(2_200_000)))
    expect(await closed).toEqual([1008, 'a message is larger than 2097152 bytes'])
    expect(got).toEqual([])
  })

  it('with the client, and with the provider', async () => {
    const first = await open('email')
    first.socket.close(1000, 'done')
    expect((await first.closed)[0]).toBe(1000)
    await until('the end of the provider', () => provider?.readyState === WebSocket.CLOSED)
    const second = await open('email')
    provider?.close(1001, 'restart')
    expect(await second.closed).toEqual([1001, 'restart'])
    const third = await open('email')
    provider?.terminate()
    expect((await third.closed)[0]).toBe(1006)
    const fourth = await open('email')
    fourth.socket.terminate()
    await until('the end of the provider', () => provider?.readyState === WebSocket.CLOSED)
  })
})

it('without guards of answers, large messages of the provider, and many of them, arrive as they are', async () => {
  const { socket, seen } = await open('email')
  const texts = Array.from(
    { length: 200 },
    (_, at) => `{"type":"response.text.delta","delta":"${'x'.repeat(at * 100)}"}`,
  )
  for (const text of texts) provider?.send(text)
  await until('all messages', () => seen.length === 201)
  expect(seen.slice(1)).toEqual(texts)
  socket.close()
})

it('a client of HTTP/2 is checked as well', async () => {
  const session = connect(gateway.url)
  await once(session, 'remoteSettings')
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': new URL(gateway.url).host,
      ':path': '/email/v1/realtime?model=m',
      'sec-websocket-version': '13',
    },
    { endStream: false },
  )
  const reader = new WebSocketMessages({ isMasked: false, messageBytesMax: 100_000 })
  const seen: string[] = []
  stream.on('data', (chunk: Buffer) => seen.push(...reader.push(chunk).map(({ text }) => text)))
  await until('the first event', () => seen.length === 1)
  stream.write(textMessage('{"type":"input_audio_buffer.append","audio":"AAAA"}', true))
  await until('the error', () => seen.length === 2)
  expect(seen[1]).toContain('guardrail_unsupported')
  stream.write(textMessage(item('a@b.example'), true))
  await arrived(1)
  expect(got).toEqual([item('<EMAIL_ADDRESS>')])
  session.destroy()
  await until('the end of the provider', () => provider?.readyState === WebSocket.CLOSED)
})

describe('guards of answers', () => {
  const of = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 }
  const answer = (...transcript: readonly string[]): readonly string[] =>
    [
      { type: 'response.created', response: { id: 'r' } },
      ...transcript.map((delta) => ({ type: 'response.output_audio_transcript.delta', ...of, delta })),
      { type: 'response.output_audio.delta', ...of, delta: 'UklGRg==' },
      { type: 'response.output_audio_transcript.done', ...of, transcript: transcript.join('') },
      { type: 'response.done', response: { id: 'r', output: [], status: 'completed' } },
    ].map((event) => JSON.stringify(event))
  const typesOf = (seen: readonly string[]) => seen.map((text) => (JSON.parse(text) as { type: string }).type)

  it('mask the transcript and drop its sound; other answers are unchanged', async () => {
    const { socket, seen, id } = await open('streams')
    for (const event of answer('to a@b', '.example')) provider?.send(event)
    await until('the masked answer', () => seen.length === 6)
    expect(seen.slice(2, 5).join('\n')).toContain('to <EMAIL_ADDRESS>')
    expect(seen.join('\n')).not.toMatch(/b\.example|UklGRg/)
    const plain = answer('hello')
    for (const event of plain) provider?.send(event)
    await until('the next answer', () => seen.length === 11)
    expect(seen.slice(6)).toEqual(plain)
    const append = '{"type":"input_audio_buffer.append","audio":"AAAA"}'
    socket.send(append)
    await arrived(1)
    expect(got).toEqual([append])
    socket.close()
    const line = await log.line(`model=${id} `)
    expect(line).toContain('gw.ai.guards="Response regex Mask (Email)"')
    expect(line).toContain('error="audio was dropped: guards masked its transcript, or it has none"')
  })

  it('reject an answer, and cancel it at the provider', async () => {
    const { socket, seen, id } = await open('failing')
    const events = answer(`no verdict${' '.repeat(1100)}`)
    for (const event of events.slice(0, 2)) provider?.send(event)
    await arrived(1)
    expect(JSON.parse(got[0] ?? '')).toMatchObject({ type: 'response.cancel', response_id: 'r' })
    for (const event of events.slice(2)) provider?.send(event)
    await until('the end of the answer', () => seen.length === 4)
    expect(typesOf(seen.slice(1))).toEqual(['response.created', 'error', 'response.done'])
    expect(seen[3]).toContain('"status":"incomplete"')
    socket.close()
    expect(await log.line(`model=${id} `)).toContain('reason=Guardrail')
  })

  it('check what is held when the provider closes', async () => {
    const { seen, closed } = await open('streams')
    for (const event of answer('to a@b', '.example').slice(0, 4)) provider?.send(event)
    provider?.close(1000, 'bye')
    expect(await closed).toEqual([1000, 'bye'])
    expect(typesOf(seen.slice(1))).toEqual([
      'response.created',
      'response.output_audio_transcript.delta',
      'response.output_audio_transcript.delta',
    ])
    expect(seen.join('\n')).toContain('to <EMAIL_ADDRESS>')
  })

  it('end a session whose provider sends binary messages or no JSON', async () => {
    const first = await open('streams')
    provider?.send(Buffer.from([1]))
    expect(await first.closed).toEqual([1008, 'guards cannot check binary messages'])
    const second = await open('streams')
    provider?.send('hello')
    expect(await second.closed).toEqual([1008, 'guards cannot check a message that is not a JSON object'])
  })

  it('without streaming do not check a session', async () => {
    const { socket, seen } = await open('answers')
    const events = answer('to a@b.example')
    for (const event of events) provider?.send(event)
    await until('the answer', () => seen.length === 6)
    expect(seen.slice(1)).toEqual(events)
    socket.close()
  })
})
