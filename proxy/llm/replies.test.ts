// Responses of providers to the client: nothing is lost, and responses that are only read for usage are unchanged.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const MIB = 1024 * 1024

let upstream: Server
let gateway: TestProxy
let answer: (response: ServerResponse, request: IncomingMessage) => void
let connections = 0

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(response, request))
  })
  upstream.on('connection', (socket) => {
    connections++
    socket.on('close', () => connections--)
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  const backendOf = (provider: { openai: object } | { anthropic: object }, pathPrefix?: string) => ({
    ai: {
      groups: [{ providers: [{ name: 'backend', provider, hostOverride, ...(pathPrefix && { pathPrefix }) }] }],
    },
    inlinePolicies: { ai: { routes: { '/messages': 'Messages', '/embeddings': 'Embeddings' } as const } },
  })
  gateway = await testProxy({
    routes: [
      { name: 'openai', prefix: '/v1', backend: backendOf({ openai: {} }) },
      { name: 'claude', prefix: '/claude', backend: backendOf({ anthropic: {} }, '/v1') },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const post = (path: string, fields: object = {}): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields }),
  })

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
const event = (json: { type: string; [key: string]: unknown }): string =>
  `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const MESSAGE_STREAM = [
  event({ type: 'message_start', message: { id: 'm1', model: 'claude', usage: { input_tokens: 3 } } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }),
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
  event({ type: 'message_stop' }),
]

async function said(path: string): Promise<string> {
  const client = new OpenAI({ baseURL: gateway.url + path, apiKey: 'k', maxRetries: 0 })
  const stream = await client.chat.completions.create({
    model: 'm',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  })
  let text = ''
  for await (const one of stream) text += one.choices[0]?.delta.content ?? ''
  return text
}

describe('a compressed event stream', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('in %s is decoded, also where it is translated', async (encoding, compress) => {
    const send = (text: string) => (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8', 'content-encoding': encoding })
      const bytes = compress(text)
      response.write(bytes.subarray(0, 11))
      response.end(bytes.subarray(11))
    }
    answer = send(`${chunk('hel')}${chunk('lo')}data: [DONE]\n\n`)
    expect(await said('/v1')).toBe('hello')
    const reply = await post('/v1/chat/completions', { stream: true })
    expect(reply.headers.get('content-encoding')).toBeNull()
    expect(await reply.text()).toContain('data: [DONE]')
    answer = send(MESSAGE_STREAM.join(''))
    expect(await said('/claude/v1')).toBe('hello')
  })

  it('in an unknown encoding is a 502', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'rot13' })
      response.end('qngn: {}\n\n')
    }
    const reply = await post('/v1/chat/completions', { stream: true })
    expect(reply.status).toBe(502)
    expect(await reply.json()).toMatchObject({
      error: { message: 'failed to process LLM response: content-encoding rot13 is not supported' },
    })
  })

  it('that is cut short ends with an error event', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(gzipSync(chunk('hello')).subarray(0, -6))
    }
    expect(await (await post('/v1/chat/completions', { stream: true })).text()).toMatch(/data: {"error":.*}\n\n$/)
  })
})

describe('a response that is only observed', () => {
  it.each([
    ['with its length', true],
    ['in chunks', false],
  ])('goes by when it is over the limit, %s', async (_, hasLength) => {
    const body = JSON.stringify({ data: [{ embedding: 'x'.repeat(3 * MIB) }], usage: { total_tokens: 1 } })
    answer = (response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(hasLength && { 'content-length': body.length }),
      })
      response.write(body.slice(0, MIB))
      response.end(body.slice(MIB))
    }
    const reply = await post('/v1/embeddings', { input: 'x' })
    expect(reply.status).toBe(200)
    expect((await reply.text()) === body).toBe(true)
  })

  it('is forwarded unchanged if only its decoded form is over the limit', async () => {
    const body = JSON.stringify({ data: 'x'.repeat(3 * MIB) })
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(body))
    }
    const reply = await post('/v1/embeddings', { input: 'x' })
    expect(reply.headers.get('content-encoding')).toBe('gzip')
    expect((await reply.text()) === body).toBe(true)
  })

  it('is forwarded if one event is over the limit, and so are later events', async () => {
    const body = `${chunk('x'.repeat(3 * MIB))}${chunk('end')}data: [DONE]\n\n`
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(body)
    }
    expect((await (await post('/v1/chat/completions', { stream: true })).text()) === body).toBe(true)
  })
})

describe('a translated response', () => {
  const message = (text: string): string =>
    JSON.stringify({ type: 'message', model: 'c', content: [{ type: 'text', text }], usage: {} })

  it('may be larger than the buffer, and has a separate limit', async () => {
    answer = (response) => response.end(message('x'.repeat(3 * MIB)))
    const reply = await post('/claude/v1/chat/completions')
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'x'.repeat(3 * MIB) } }] })
    answer = (response) => response.end(message('x'.repeat(16 * MIB)))
    const refused = await post('/claude/v1/chat/completions')
    expect(refused.status).toBe(502)
    expect(await refused.text()).toContain('larger than 16777216 bytes')
    // The connection on which the rest would come is not kept.
    await expect.poll(() => connections, { timeout: 5000 }).toBeLessThanOrEqual(1)
  })

  it('may have one large event of a stream', async () => {
    const [start = '', open = '', , ...rest] = MESSAGE_STREAM
    const delta = { type: 'text_delta', text: 'x'.repeat(3 * MIB) }
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end([start, open, event({ type: 'content_block_delta', index: 0, delta }), ...rest].join(''))
    }
    expect((await said('/claude/v1')).length).toBe(3 * MIB)
  })

  it('is a stream if one was requested, although the provider sent a whole response', async () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'hello' },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
    ]
    const usage = { input_tokens: 3, output_tokens: 2 }
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'message', id: 'm', model: 'c', content, stop_reason: 'tool_use', usage }))
    }
    expect(await said('/claude/v1')).toBe('hello')
    const fields = { stream: true, stream_options: { include_usage: true } }
    const reply = await post('/claude/v1/chat/completions', fields)
    expect(reply.headers.get('content-type')).toBe('text/event-stream')
    const text = await reply.text()
    for (const part of ['"reasoning_content":"hm"', '"arguments":"{\\"a\\":1}"', '"tool_calls"}', '"total_tokens":5']) {
      expect(text).toContain(part)
    }
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it.each([
    ['another object', '{"hello":"world"}'],
    ['an answer of another format', '{"id":"c","object":"chat.completion","choices":[]}'],
    ['content that is not a list', '{"type":"message","content":"hi"}'],
  ])('is a 502 when it is %s', async (_, body) => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(body)
    }
    const reply = await post('/claude/v1/chat/completions')
    expect(reply.status).toBe(502)
    expect(await reply.json()).toMatchObject({
      error: {
        message:
          'failed to process LLM response: the provider returned JSON that is not a valid response in its format',
      },
    })
  })
})

describe('a stream that ends early', () => {
  const broken = (text: string) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text)
    setTimeout(() => response.destroy(), 50)
  }

  it.each([
    ['in the middle of a line', `${chunk('a')}data: {"id":"c","cho`, '\n\n'],
    ['at the end of a line', `${chunk('a')}data: {}\n`, '\n\n'],
    ['behind an event', chunk('a'), ''],
    ['behind an event with CRLF', chunk('a').replaceAll('\n', '\r\n'), ''],
  ])('%s ends with an error event of its own', async (_, text, separator) => {
    answer = broken(text)
    const received = await (await post('/v1/chat/completions', { stream: true })).text()
    const error =
      '{"error":{"message":"the stream of the provider ended early","type":"api_error","param":null,"code":null}}'
    expect(received).toBe(`${text}${separator}data: ${error}\n\n`)
  })

  it('does so in the messages format', async () => {
    answer = broken('event: content_block_delta\ndata: {"type":"con')
    const received = await (await post('/claude/v1/messages', { stream: true })).text()
    expect(received).toMatch(/"con\n\nevent: error\ndata: {"type":"error".*}\n\n$/)
  })
})
