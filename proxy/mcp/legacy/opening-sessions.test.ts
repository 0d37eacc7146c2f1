// Sessions that a server opens for a client that has left, that no longer waits, or that gets no answer: the gateway
// reads only the id of the session, and ends it.
// @module-tag full
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { mcpRoute, upstreamRoute } from '../servers.testing.ts'

const SESSION = { 'mcp-session-id': 's' }
const JSON_HEAD = { 'content-type': 'application/json', ...SESSION }
const STREAM_HEAD = { 'content-type': 'text/event-stream', ...SESSION }
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
const OTHER = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
const event = (data: string): string => `data: ${data}\n\n`
const RESULT = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
const REQUEST_TIMEOUT_MS = 200
/** Shorter than the time that a server has for its answer. */
const SOON_MS = 8000

let server: Server
let gateway: TestProxy
/** Sends the head of the answer to `initialize`, or more. */
let begin: (response: ServerResponse, text: string) => void
/** Of the last answer that has begun. */
let begun: PromiseWithResolvers<ServerResponse>
const ended: string[] = []
const lost = new Set<string>()

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response))
  const target = { name: 's', port: await listening(server) }
  gateway = await testProxy({
    workers: 1,
    routes: [
      upstreamRoute(target),
      mcpRoute('patient', [target]),
      mcpRoute('stateless', [target], { sessionRouting: 'Stateless' }),
      mcpRoute('impatient', [target], { inlinePolicies: { http: { requestTimeoutMs: REQUEST_TIMEOUT_MS } } }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
})

beforeEach(() => {
  ended.splice(0)
  lost.clear()
  begun = Promise.withResolvers()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') {
    ended.push(String(request.headers['mcp-session-id']))
    response.writeHead(200).end()
    return
  }
  // Messages of this test and of the gateway.
  const { id, method } = (await json(request)) as { id?: number | string; method: string }
  const session = request.headers['mcp-session-id']
  if (session !== undefined && lost.has(String(session))) {
    response.writeHead(404).end()
    return
  }
  if (method !== 'initialize') {
    if (id === undefined) response.writeHead(202).end()
    else response.writeHead(200, JSON_HEAD).end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }))
    return
  }
  begin(response, JSON.stringify({ jsonrpc: '2.0', id, result: RESULT }))
  begun.resolve(response)
}

function send(route: string, signal?: AbortSignal, session?: string): Promise<Response> {
  const isList = route === 'stateless' || session !== undefined
  const message = isList ? { method: 'tools/list' } : { method: 'initialize', params: PARAMS }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
  const headers = { ...HEADERS, ...(session !== undefined && { 'mcp-session-id': session }) }
  return fetch(`${gateway.url}/${route}`, { method: 'POST', headers, body, signal: signal ?? null })
}

/** The worker reads what has arrived before it reads later requests. */
async function isRead(): Promise<void> {
  for (let i = 0; i < 2; i++) await (await fetch(`${gateway.url}/unknown`)).text()
}

async function theEnd(): Promise<string[]> {
  await until('the session has ended', () => ended.length > 0, SOON_MS)
  return ended
}

const PARTS: readonly [string, typeof begin][] = [
  ['the head of JSON', (response) => response.writeHead(200, JSON_HEAD).flushHeaders()],
  ['a part of JSON', (response, text) => response.writeHead(200, JSON_HEAD).write(text.slice(0, 9))],
  ['the head of a stream', (response) => response.writeHead(200, STREAM_HEAD).flushHeaders()],
  ['a part of a stream', (response) => response.writeHead(200, STREAM_HEAD).write(event(OTHER))],
]

describe.each(PARTS)('a session ends whose server has sent %s', (_, part) => {
  it.each(['patient', 'stateless'])('when its client leaves (%s)', async (route) => {
    begin = part
    const client = new AbortController()
    const request = send(route, client.signal).catch(() => undefined)
    await begun.promise
    await isRead()
    client.abort()
    await request
    expect(await theEnd()).toEqual(['s'])
  })

  it('when its client leaves at the same time', async () => {
    const client = new AbortController()
    begin = (response, text) => {
      client.abort()
      part(response, text)
    }
    await send('patient', client.signal).catch(() => undefined)
    expect(await theEnd()).toEqual(['s'])
  })

  it('when its time is up', async () => {
    begin = part
    expect((await send('impatient')).status).toBe(500)
    expect(await theEnd()).toEqual(['s'])
  })

  it('when its connection breaks', async () => {
    begin = part
    const request = send('patient')
    const response = await begun.promise
    await isRead()
    response.destroy()
    expect((await request).status).toBe(500)
    expect(await theEnd()).toEqual(['s'])
  })
})

it.each(['json', 'stream'])('a session ends that its server opens after its time (%s)', async (kind) => {
  begin = () => {}
  expect((await send('impatient')).status).toBe(500)
  const response = await begun.promise
  response.writeHead(200, kind === 'json' ? JSON_HEAD : STREAM_HEAD).flushHeaders()
  expect(await theEnd()).toEqual(['s'])
})

it.each<[string, typeof begin]>([
  ['something else as JSON', (response) => response.writeHead(200, JSON_HEAD).end('no')],
  ['nothing as JSON', (response) => response.writeHead(200, JSON_HEAD).end()],
  ['another message as JSON', (response) => response.writeHead(200, JSON_HEAD).end(OTHER)],
  ['something else in a stream', (response) => response.writeHead(200, STREAM_HEAD).end(event('no'))],
  ['a stream without an answer', (response) => response.writeHead(200, STREAM_HEAD).end(event(OTHER))],
  ['a stream with too much', (response) => response.writeHead(200, STREAM_HEAD).write(event(OTHER).repeat(10_001))],
])('a session ends whose server sends %s', async (_, part) => {
  begin = part
  expect((await send('patient')).status).toBe(500)
  expect(await theEnd()).toEqual(['s'])
})

it.each<[string, typeof begin]>([
  ['JSON', (response, text) => response.writeHead(200, JSON_HEAD).end(text)],
  ['a stream', (response, text) => response.writeHead(200, STREAM_HEAD).end(event(OTHER) + event(text))],
  ['an open stream', (response, text) => response.writeHead(200, STREAM_HEAD).write(event(text))],
])('a session lives on that its server confirms with %s', async (_, whole) => {
  begin = whole
  const response = await send('patient')
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ result: RESULT })
  await isRead()
  expect(ended).toEqual([])
})

it('a session is opened again for all its requests, also if the first client leaves', async () => {
  begin = (response, text) => response.writeHead(200, JSON_HEAD).end(text)
  const session = (await send('patient')).headers.get('mcp-session-id') ?? ''
  lost.add('s')
  begun = Promise.withResolvers()
  let text = ''
  begin = (_, answerText) => (text = answerText)
  const client = new AbortController()
  const first = send('patient', client.signal, session).catch(() => undefined)
  const response = await begun.promise
  const second = send('patient', undefined, session)
  await isRead()
  client.abort()
  await first
  await isRead()
  response.writeHead(200, { ...JSON_HEAD, 'mcp-session-id': 's2' }).end(text)
  expect((await second).status).toBe(200)
})
