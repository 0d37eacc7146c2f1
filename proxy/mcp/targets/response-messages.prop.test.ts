// A stream that has arrived as a whole gives the client the same messages as one that is read event by event.
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import type { BackendHandler } from '../../chain/handler.ts'
import { Exchange } from '../../exchange/exchange.ts'
import { SseParser } from '../../http/sse.ts'
import { HeaderList } from '../../message/headers.ts'
import { HttpRequest } from '../../message/message.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { arrived, mcpBackend, textOf } from '../backend.testing.ts'

const ID = 7
const CUTS_MAX = 24

/** A message of a server: the response to the request, or another one. */
const result = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }),
  fc.record({ content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) })) }),
  fc.constant({ content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }] }),
  fc.constant({ content: [{ type: 'resource', resource: { uri: 'ui://page', text: 'x' } }] }),
  fc.constant({ task: { taskId: 't', status: 'working' } }),
)
const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.record({ result }) },
  { weight: 1, arbitrary: fc.record({ error: fc.record({ code: fc.integer(), message: fc.string() }) }) },
)
const response = fc
  .tuple(
    fc.oneof({ weight: 6, arbitrary: fc.constant<number | string>(ID) }, fc.constantFrom(8, '7', 7.5, '')),
    outcome,
  )
  .map(([id, rest]): object => ({ jsonrpc: '2.0', id, ...rest }))
const other = fc.constantFrom<object>(
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'é' } },
  { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'm' } },
  { jsonrpc: '2.0' },
  {},
)
const data = fc.oneof(
  { weight: 6, arbitrary: response.map((message) => JSON.stringify(message)) },
  { weight: 2, arbitrary: other.map((message) => JSON.stringify(message)) },
  { weight: 1, arbitrary: response.map((message) => JSON.stringify(message, null, 1)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'x', '{', '[]', `{"jsonrpc":"2.0","id":7,"result":{"n":${'9'.repeat(20)}}}`),
  },
)
const line = fc.constantFrom('event: message', 'event:x', ': comment', ':', 'id: 5', 'retry: 9', 'data', 'unknown: y')
const event = fc.tuple(fc.array(line, { maxLength: 2 }), fc.constantFrom('data: ', 'data:'), data)
const stream = fc
  .record({
    events: fc.oneof({ weight: 3, arbitrary: event.map((one) => [one]) }, fc.array(event, { maxLength: 3 })),
    eol: fc.constantFrom('\n', '\r\n', '\r'),
    start: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('\u{FEFF}', ': ping\n\n', '\n')),
    end: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('data: ', ': bye', 'event: x\n', '\r')),
  })
  .map(({ events, eol, start, end }) => {
    const blocks = events.map(([lines, field, text]) =>
      [...lines, ...text.split('\n').map((part) => field + part), '', ''].join(eol),
    )
    return start + blocks.join('') + end
  })

const HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
]
const INITIALIZED = {
  jsonrpc: '2.0',
  id: ID,
  result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
}
const { connection } = exchangeOf({})

class Gateway {
  readonly #handler: BackendHandler
  readonly #tool: string
  #answer: { readonly body: string; readonly cutAt: number | undefined } = { body: '', cutAt: undefined }
  #session = ''

  constructor(servers: readonly string[], tool: string) {
    this.#tool = tool
    this.#handler = mcpBackend(servers, ({ headers }) =>
      headers.has('mcp-session-id')
        ? { type: 'text/event-stream', ...this.#answer }
        : { type: 'application/json', session: 'of-server', body: JSON.stringify(INITIALIZED) },
    )
  }

  async open(): Promise<this> {
    const exchange = await this.#send('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    this.#session = exchange.response?.headers.get('mcp-session-id') ?? ''
    return this
  }

  /** What a client and the log get for a stream of a server. */
  async called(body: string, cutAt?: number): Promise<object> {
    this.#answer = { body, cutAt }
    const exchange = await this.#send('tools/call', { name: this.#tool, _meta: { progressToken: 1 } })
    const { response, mcp } = exchange
    const text = await textOf(response?.body)
    const isJson = response?.headers.get('content-type') === 'application/json'
    const events = isJson ? [text] : new SseParser(100_000).push(Buffer.from(text)).map((one) => one.data)
    return {
      status: response?.status,
      messages: events.filter((one) => one !== '').map((one): unknown => JSON.parse(one)),
      facts: { dropped: mcp?.dropped, code: mcp?.errorCode, result: mcp?.toolResult },
      // Of a stream, known at its end.
      errorDetail: exchange.errorDetail,
    }
  }

  async #send(method: string, params: object): Promise<Exchange> {
    const headers = HeaderList.of(HEADERS)
    if (this.#session !== '') headers.append('mcp-session-id', this.#session)
    const target = { method: 'POST', path: '/mcp', query: '', host: 'x', scheme: 'http', version: 'HTTP/1.1' } as const
    const exchange = new Exchange(connection, new HttpRequest({ ...target, headers }), performance.now())
    exchange.request.body = arrived(JSON.stringify({ jsonrpc: '2.0', id: ID, method, params }))
    await new Promise<void>((resolve) => this.#handler(exchange, () => resolve()))
    return exchange
  }
}

describe.each([
  ['one server', ['a'], 'x'],
  ['two servers', ['a', 'b'], 'b_x'],
] as const)('a stream of %s', (_, servers, tool) => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await new Gateway(servers, tool).open()
  })

  it('gives the same messages and facts however it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.nat(), async (text, seed) => {
        const whole = await gateway.called(text)
        const { length } = Buffer.from(text)
        const step = Math.max(1, Math.floor(length / CUTS_MAX))
        for (let cutAt = seed % step; cutAt < length; cutAt += step) {
          expect(await gateway.called(text, cutAt)).toEqual(whole)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('is JSON if it is only the response', async () => {
    const text = `event: message\r\ndata: {"jsonrpc":"2.0","id":${ID},"result":{"é":1}}\r\n\r\n`
    const whole = await gateway.called(text)
    expect(whole).toMatchObject({ status: 200, messages: [{ id: ID, result: { é: 1 } }] })
    for (let cutAt = 0; cutAt < Buffer.byteLength(text); cutAt++) {
      expect(await gateway.called(text, cutAt)).toEqual(whole)
    }
  })
})
