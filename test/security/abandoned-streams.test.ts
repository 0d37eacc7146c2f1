// Streams of silent servers that their client abandons: the connection to the server is closed with that of the client,
// over HTTP/1.1 and HTTP/2, by FIN and by RST.
import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Backend, MCPBackend } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'

const STREAM = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }
const ROUNDS = 40

/** Open streams of a server, and how clients ended them. */
const open = new Set<ServerResponse | ServerHttp2Stream>()
/** MCP: as in the official server, one stream of the client for each session. */
const listeners = new Map<string, ServerResponse>()
/** MCP sessions that the gateway has not ended. */
const sessions = new Set<string>()
let created = 0
let server: Server
let plainHttp2: ReturnType<typeof createHttp2Server>
let gateway: TestProxy
let port: number

function hold(stream: ServerResponse | ServerHttp2Stream): void {
  open.add(stream)
  stream.on('close', () => open.delete(stream))
}

/** Sends a head and a first event, and then nothing. */
function silence(response: ServerResponse): void {
  hold(response)
  response.writeHead(200, STREAM)
  response.write(': hello\n\n')
}

function compressedSilence(response: ServerResponse): void {
  hold(response)
  response.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' })
  response.write(gzipSync(': hello\n\n').subarray(0, -8))
}

function listen(request: IncomingMessage, response: ServerResponse): void {
  const session = String(request.headers['mcp-session-id'])
  if (listeners.has(session)) {
    response.writeHead(409).end()
    return
  }
  listeners.set(session, response)
  response.on('close', () => listeners.delete(session))
  silence(response)
}

function answerMcp(response: ServerResponse, text: string): void {
  const { id, method } = JSON.parse(text) as { id?: number; method: string } // sent by this test
  if (method === 'initialize') {
    const session = `s-${++created}`
    sessions.add(session)
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
    response.writeHead(200, { ...JSON_TYPE, 'mcp-session-id': session })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  } else if (method === 'notifications/silent') silence(response)
  else if (id === undefined) response.writeHead(202).end()
  else silence(response)
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.url === '/half') response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' }).flushHeaders()
    if (request.url === '/half') hold(response)
    else if (request.url?.endsWith('?gzip') === true) compressedSilence(response)
    else if (request.url !== '/mcp') silence(response)
    else if (request.method === 'GET') listen(request, response)
    else if (request.method === 'DELETE') {
      sessions.delete(String(request.headers['mcp-session-id']))
      response.writeHead(200).end()
    } else answerMcp(response, Buffer.concat(chunks).toString('utf8'))
  })
}

beforeAll(async () => {
  server = createServer(serve)
  const upstream = await listening(server)
  plainHttp2 = createHttp2Server((_, response) => {
    hold(response.stream)
    response.writeHead(200, STREAM)
    response.write(': hello\n\n')
  })
  const http2Port = await freePort()
  await new Promise<void>((resolve) => {
    plainHttp2.listen(http2Port, '127.0.0.1', resolve)
  })
  const hostOverride = { host: '127.0.0.1', port: upstream }
  const mcp = (count: number, settings: Partial<MCPBackend> = {}): TestRoute['backend'] => ({
    mcp: {
      targets: Array.from({ length: count }, (_, index) => ({ name: `t${index}`, ref: { backend: 'ns/server' } })),
      sessionRouting: 'Stateful',
      prefixMode: 'Conditional',
      failureMode: 'FailClosed',
      ...settings,
    },
  })
  const llm = (provider: object): TestRoute['backend'] => ({
    ai: { groups: [{ providers: [{ name: 'p', provider, hostOverride, pathPrefix: '/v1' }] }] },
    inlinePolicies: { ai: { routes: { '/x': 'Completions' } } },
  })
  const address = {
    static: { host: '127.0.0.1', port: upstream },
    inlinePolicies: { http: { version: 'HTTP1' as const } },
  }
  const a2a = { ...address, a2a: {} } as Omit<Backend, 'key' | 'name'>
  const routes: TestRoute[] = [
    { name: 'server', prefix: '/unused', backend: address },
    { name: 'one', prefix: '/one', backend: mcp(1) },
    { name: 'three', prefix: '/three', backend: mcp(3) },
    { name: 'stateless', prefix: '/stateless', backend: mcp(2, { sessionRouting: 'Stateless' }) },
    { name: 'same', prefix: '/same', backend: llm({ openai: {} }) },
    { name: 'other', prefix: '/other', backend: llm({ anthropic: {} }) },
    { name: 'agent', prefix: '/agent', backend: a2a },
    { name: 'plain', prefix: '/plain', backend: address },
    {
      name: 'http2',
      prefix: '/http2',
      backend: {
        static: { host: '127.0.0.1', port: http2Port },
        inlinePolicies: { http: { version: 'HTTP2' } },
      },
    },
    { name: 'late', prefix: '/late', backend: mcp(2), inline: { timeouts: { requestMs: 300 } } },
    {
      name: 'replaced',
      prefix: '/replaced',
      backend: llm({ openai: {} }),
      inline: { transformation: { response: { body: '"new"' } } },
    },
    {
      name: 'buffered',
      prefix: '/buffered',
      backend: address,
      inline: { buffer: { response: { bytesMax: 1000, failureMode: 'FailClosed' } } },
    },
  ]
  gateway = await testProxy({ routes })
  port = gateway.port
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
  plainHttp2.close()
})

beforeEach(async () => {
  await until('no streams are open', () => open.size === 0)
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const TO_MCP = { ...JSON_TYPE, accept: 'application/json, text/event-stream' }
const rpc = (method: string, more: object = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...more })
const CHAT = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
const INIT = rpc('initialize', { params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} } })

async function newSession(path: string): Promise<string> {
  const response = await fetch(gateway.url + path, { method: 'POST', headers: TO_MCP, body: INIT })
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

type Leave = () => void

/** Sends a request over HTTP/1.1; resolves when its response has begun, or at once for one that does not begin. */
async function overHttp1(asked: Asked, how: 'FIN' | 'RST', begins = true): Promise<Leave> {
  const { method, path, headers = {}, body = '' } = asked
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const fields = Object.entries({ host: 'localhost', 'content-length': String(body.length), ...headers })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`)
  if (begins) {
    await until('the answer begins', () => text.includes('\r\n\r\n'))
    expect(text).toContain('HTTP/1.1 200')
  }
  return () => (how === 'FIN' ? socket.end() : socket.resetAndDestroy())
}

async function overHttp2(asked: Asked, how: 'RST' | 'end'): Promise<Leave> {
  const { method, path, headers = {}, body = '' } = asked
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  const stream = session.request({ ':method': method, ':path': path, ...headers })
  stream.on('error', () => {})
  stream.end(body)
  let status: unknown
  stream.on('response', (fields) => (status = fields[':status']))
  await until('the answer begins', () => status !== undefined)
  expect(status).toBe(200)
  return () => {
    if (how === 'end') session.destroy()
    else stream.close(8, () => session.close())
  }
}

const KINDS: [string, (path: string) => Promise<Asked>, number][] = [
  ['an MCP listener with one target', listening1('/one'), 1],
  ['an MCP listener with three targets', listening1('/three'), 3],
  [
    'an MCP call',
    async () => ({ ...(await inSession('/one')), body: rpc('tools/call', { params: { name: 'x' } }) }),
    1,
  ],
  ['an LLM stream', llmCall('/same/chat/completions'), 1],
  ['an LLM stream that is translated', llmCall('/other/chat/completions'), 1],
  ['an LLM stream that is decoded', llmCall('/same/chat/completions?gzip'), 1],
  [
    'an A2A stream',
    () => Promise.resolve({ method: 'POST', path: '/agent', headers: JSON_TYPE, body: rpc('message/stream') }),
    1,
  ],
  ['a stream that is forwarded', () => Promise.resolve({ method: 'GET', path: '/plain' }), 1],
  ['a stream of HTTP/2', () => Promise.resolve({ method: 'GET', path: '/http2' }), 1],
]

async function inSession(path: string): Promise<Asked & { headers: Record<string, string> }> {
  return { method: 'POST', path, headers: { ...TO_MCP, 'mcp-session-id': await newSession(path) } }
}

function listening1(path: string): () => Promise<Asked> {
  return async () => ({ ...(await inSession(path)), method: 'GET' })
}

function llmCall(path: string): () => Promise<Asked> {
  return () => Promise.resolve({ method: 'POST', path, headers: JSON_TYPE, body: CHAT })
}

describe.each(KINDS)('%s', (_, make, count) => {
  it.each([
    ['HTTP/1.1, FIN', (asked: Asked) => overHttp1(asked, 'FIN')],
    ['HTTP/1.1, RST', (asked: Asked) => overHttp1(asked, 'RST')],
    ['HTTP/2, reset of the stream', (asked: Asked) => overHttp2(asked, 'RST')],
    ['HTTP/2, end of the connection', (asked: Asked) => overHttp2(asked, 'end')],
  ])('is closed at the server when the client leaves (%s)', async (_how, ask) => {
    const leave = await ask(await make(''))
    await until('the server streams', () => open.size === count)
    leave()
    await until('the server is left', () => open.size === 0, 3000)
    expect(open.size).toBe(0)
  })
})

describe('the event stream of a client of 2024-11-05', () => {
  it('ends its sessions, calls and streams at the servers when the client leaves', async () => {
    const before = sessions.size
    const left = new AbortController()
    const { body } = await fetch(`${gateway.url}/three/sse`, { signal: left.signal })
    const reader = body?.getReader()
    const next = async (): Promise<string> => Buffer.from((await reader?.read())?.value ?? []).toString()
    const [, place = ''] = /data: (.+)/.exec(await next()) ?? []
    const send = (message: string): Promise<Response> =>
      fetch(gateway.url + place, { method: 'POST', headers: JSON_TYPE, body: message })
    await send(INIT)
    expect(await next()).toContain('"protocolVersion"')
    await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    await send(rpc('tools/call', { params: { name: 't0_x' } }))
    await until('the servers stream', () => open.size === 4 && sessions.size === before + 3)
    left.abort()
    await until('the servers are left', () => open.size === 0 && sessions.size === before, 3000)
    expect([open.size, sessions.size]).toEqual([0, before])
  })
})

describe('before the response of the gateway begins', () => {
  it.each([
    ['a filter waits for the whole body', { method: 'GET', path: '/buffered' }],
    [
      'the gateway reads the whole response of a model',
      { method: 'POST', path: '/same/half', headers: JSON_TYPE, body: CHAT },
    ],
  ])('the request to the server ends with the client: %s', async (_, asked) => {
    const leave = await overHttp1(asked, 'FIN', false)
    await until('the server streams', () => open.size === 1)
    leave()
    await until('the server is left', () => open.size === 0, 3000)
    expect(open.size).toBe(0)
  })
})

describe('a route with a timeout', () => {
  it('drops MCP servers that stop in the middle of a list response, and closes their streams', async () => {
    const headers = { ...TO_MCP, 'mcp-session-id': await newSession('/late') }
    const response = await fetch(`${gateway.url}/late`, { method: 'POST', headers, body: rpc('tools/list') })
    await response.text()
    expect(response.status).toBe(504)
    await until('the server is left', () => open.size === 0, 3000)
    expect(open.size).toBe(0)
  })
})

describe('unused streams', () => {
  it('are cancelled if a policy replaces their body, and if a notification is answered', async () => {
    const response = await fetch(`${gateway.url}/replaced/chat/completions`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: CHAT,
    })
    expect(await response.text()).toBe('new')
    const asked = await inSession('/one')
    const note = rpc('notifications/silent').replace('"id":1,', '')
    expect((await fetch(`${gateway.url}/one`, { ...asked, body: note })).status).toBe(202)
    await until('the server is left', () => open.size === 0, 3000)
    expect(open.size).toBe(0)
  })

  it('are cancelled if another target rejects its stream', async () => {
    const asked = await inSession('/three')
    const [held] = [...sessions].slice(-3)
    const busy = await fetch(`http://127.0.0.1:${serverPort()}/mcp`, { headers: { 'mcp-session-id': held ?? '' } })
    const refused = await fetch(`${gateway.url}/three`, { method: 'GET', headers: asked.headers })
    await refused.text()
    expect(refused.status).toBe(409)
    await until('the others are left', () => open.size === 1, 3000)
    await busy.body?.cancel()
  })

  it('of a request without a session leave no session at the servers', async () => {
    const before = sessions.size
    const body = rpc('tools/call', { params: { name: 't0_x' } })
    const leave = await overHttp1({ method: 'POST', path: '/stateless', headers: TO_MCP, body }, 'FIN')
    await until('the server streams', () => open.size === 1 && sessions.size === before + 1)
    leave()
    await until('the sessions are ended', () => sessions.size === before, 3000)
    expect(open.size).toBe(0)
  })
})

describe('a client that reconnects', () => {
  it.each(['/one', '/three'])('gets a new stream at once, and no stream remains open (%s)', async (path) => {
    const asked = { ...(await inSession(path)), method: 'GET' }
    const count = path === '/one' ? 1 : 3
    let descriptors = 0
    for (let round = 0; round < ROUNDS; round++) {
      const leave = await overHttp1(asked, round % 2 === 0 ? 'FIN' : 'RST')
      expect(open.size).toBe(count)
      if (round === 0) descriptors = openDescriptors()
      leave()
    }
    await until('the server is left', () => open.size === 0, 3000)
    expect(open.size).toBe(0)
    expect(openDescriptors()).toBeLessThanOrEqual(descriptors)
  })
})

function serverPort(): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/** Of this process, in which the proxy and its servers run. */
function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}
