// Traces of real requests through a real proxy: which events, in which order, with what in them.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import {
  bodyOf,
  EVENT_ORDER,
  messageOf,
  outline,
  watchTrace,
  type TestWatcher,
  type WatchOptions,
} from './watcher.testing.ts'

let upstream: Server
let gateway: TestProxy

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2 },
}
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const json = (value: unknown): void => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(value))
      }
      if (request.url?.startsWith('/v1/messages')) json(MESSAGE)
      else if (request.url === '/mcp') json({ jsonrpc: '2.0', id: JSON.parse(body).id, result: INITIALIZED })
      else response.end(`got ${body.length} bytes`)
    })
  })
  const port = await listening(upstream)
  const live: TestRoute['backend'] = { static: { host: '127.0.0.1', port } }
  const route = (name: string, inline?: TrafficPayload, backend = live): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend,
    ...(inline && { inline }),
  })
  const provider = {
    name: 'claude',
    provider: { anthropic: {} },
    hostOverride: { host: '127.0.0.1', port },
    pathPrefix: '/v1',
  }
  gateway = await testProxy({
    workers: 2,
    routes: [
      route('plain'),
      route('denied', {
        authorization: { action: 'Allow', matchExpressions: ['request.headers["x-role"] == "admin"'] },
      }),
      route('both', { authorization: { action: 'Require', matchExpressions: ['false || true', 'true'] } }),
      route('changed', { requestHeaderModifier: { set: [{ name: 'x-added', value: 'yes' }] } }),
      route('flat', { directResponse: { status: 200, bodyExpression: 'flatten({"a": 1})' } }),
      route('dead', undefined, { static: { host: '127.0.0.1', port: await freePort() } }),
      route('llm', undefined, { ai: { groups: [{ providers: [provider] }] } }),
      route('server'),
      route('mcp', undefined, {
        mcp: {
          targets: [{ name: 'one', ref: { backend: 'ns/server' } }],
          sessionRouting: 'Stateless',
          prefixMode: 'Conditional',
          failureMode: 'FailClosed',
        },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const watch = (options: Partial<WatchOptions> = {}): Promise<TestWatcher> =>
  watchTrace({ adminPort: gateway.proxy.ports.admin, ...options })

describe('/debug/trace', () => {
  it('follows a plain request through all stages', async () => {
    const watcher = await watch()
    const response = await fetch(`${gateway.url}/plain/x?q=1`, { method: 'POST', body: 'hello' })
    expect(await response.text()).toBe('got 5 bytes')
    const events = await watcher.ended
    expect(outline(events)).toEqual(EVENT_ORDER)
    expect(watcher.response.headers['content-type']).toBe('text/event-stream')
    expect(watcher.comments[0]).toBe('ready')
    expect(messageOf(events, 'requestSnapshot', 'initial request').requestState).toMatchObject({
      request: { method: 'POST', path: '/plain/x', host: `127.0.0.1:${gateway.port}` },
      env: {},
      source: { address: '127.0.0.1', port: expect.any(Number) },
    })
    const initial = messageOf(events, 'requestSnapshot', 'initial request').requestState as { request: { uri: string } }
    expect(initial.request.uri).toBe(`${gateway.url}/plain/x?q=1`)
    expect(messageOf(events, 'routeSelection').selectedRoute).toBe('ns/plain.00.http')
    expect(messageOf(events, 'routeSelection').evaluatedRoutes).toContain('ns/plain.00.http')
    expect(messageOf(events, 'requestSnapshot', 'final request').requestState?.['backend']).toEqual({
      name: 'ns/plain',
      type: 'static',
      protocol: 'http',
    })
    expect(messageOf(events, 'backendCallStart').target).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(messageOf(events, 'backendCallResult')).toMatchObject({ status: 200, error: null })
    expect(messageOf(events, 'responseSnapshot', 'raw response').requestState).toMatchObject({
      response: { code: 200 },
      proxy: {
        requestProcessingDuration: expect.stringMatching(/^\d+\.\d{6}s$/),
        upstreamDuration: expect.stringMatching(/^\d+\.\d{6}s$/),
      },
    })
    expect(bodyOf(events, 'final request')).toBe('hello')
    expect(bodyOf(events, 'response')).toBe('got 5 bytes')
    expect(events.at(-1)).toMatchObject({ severity: 'success', message: { status: 200, error: null } })
  })

  it('measures in microseconds since the request began', async () => {
    const watcher = await watch()
    await (await fetch(`${gateway.url}/plain`)).text()
    const events = await watcher.ended
    const ends = events.map(({ eventEnd }) => eventEnd)
    expect(ends).toEqual([...ends].sort((a, b) => a - b))
    expect(ends.every((end) => Number.isInteger(end))).toBe(true)
    expect(events[0]?.eventStart).toBeNull()
    const call = events.find(({ message }) => message.type === 'backendCallResult')
    expect(call?.eventStart).toBeGreaterThan(0)
    expect(call?.eventStart).toBeLessThan(call?.eventEnd ?? 0)
    expect(events.at(-1)).toMatchObject({ eventStart: 0 })
  })

  it('reports the result of each policy, with its rules and expressions', async () => {
    const watcher = await watch({ method: 'GET' })
    expect((await fetch(`${gateway.url}/denied`)).status).toBe(403)
    const events = await watcher.ended
    expect(outline(events)).toEqual([
      'requestStarted',
      'requestSnapshot initial request',
      'policySelection gateway',
      'requestSnapshot gateway policies',
      'routeSelection',
      'policySelection route',
      'cel',
      'authorizationResult',
      'policy authorization',
      'requestSnapshot authorization',
      'responseSnapshot final response',
      'bodySnapshot response',
      'requestFinished',
    ])
    const expr = 'request.headers["x-role"] == "admin"'
    expect(messageOf(events, 'policySelection')).toEqual({
      type: 'policySelection',
      phase: 'gateway',
      gateway: 'ns/gw',
      listener: 'http',
      effectivePolicy: {},
    })
    expect(events.find(({ message }) => message.phase === 'route')?.message.effectivePolicy).toEqual({
      authorization: [{ action: 'Allow', matchExpressions: [expr] }],
    })
    expect(events.find(({ message }) => message.type === 'cel')).toMatchObject({
      severity: 'warn',
      message: { expr, result: { error: expect.any(String) } },
    })
    expect(events.find(({ message }) => message.type === 'authorizationResult')).toMatchObject({
      severity: 'error',
      message: { rules: [{ name: expr, matched: false, mode: 'allow' }], result: 'deny' },
    })
    expect(events.find(({ message }) => message.type === 'policy')).toMatchObject({
      severity: 'error',
      message: { result: { type: 'apply', details: expect.stringContaining('answered 403') } },
    })
    expect(events.at(-1)).toMatchObject({ severity: 'warn', message: { status: 403, error: expect.any(String) } })
  })

  it('names a rule of several expressions as it is read', async () => {
    const watcher = await watch()
    await (await fetch(`${gateway.url}/both`)).text()
    const result = (await watcher.ended).find(({ message }) => message.type === 'authorizationResult')
    expect(result?.message).toMatchObject({ rules: [{ name: '(false || true) && (true)', matched: true }] })
  })

  it('shows the state each policy left', async () => {
    const watcher = await watch()
    await (await fetch(`${gateway.url}/changed`)).text()
    const events = await watcher.ended
    const headersAt = (stage: string): unknown =>
      (messageOf(events, 'requestSnapshot', stage).requestState as { request: { headers: object } }).request.headers
    expect(headersAt('gateway policies')).not.toHaveProperty('x-added')
    expect(headersAt('request header modifier')).toMatchObject({ 'x-added': 'yes' })
    expect(headersAt('final request')).toMatchObject({ 'x-added': 'yes' })
  })

  it('shows the parts of a flattened value', async () => {
    const watcher = await watch()
    await (await fetch(`${gateway.url}/flat`)).text()
    expect(messageOf(await watcher.ended, 'cel').result).toEqual({ value: { a: 1 } })
  })

  it('reports that no route matched', async () => {
    const watcher = await watch()
    expect((await fetch(`${gateway.url}/nowhere`)).status).toBe(404)
    const events = await watcher.ended
    expect(outline(events)).toEqual([
      'requestStarted',
      'requestSnapshot initial request',
      'policySelection gateway',
      'requestSnapshot gateway policies',
      'routeSelection',
      'responseSnapshot final response',
      'bodySnapshot response',
      'requestFinished',
    ])
    const selection = events.find(({ message }) => message.type === 'routeSelection')
    expect(selection?.severity).toBe('error')
    expect(selection?.message.evaluatedRoutes).toHaveLength(9)
    expect(selection?.message).not.toHaveProperty('selectedRoute')
  })

  it('reports why a backend did not answer', async () => {
    const watcher = await watch()
    expect((await fetch(`${gateway.url}/dead`)).status).toBe(503)
    const events = await watcher.ended
    expect(events.find(({ message }) => message.type === 'backendCallResult')).toMatchObject({
      severity: 'error',
      message: { error: expect.stringContaining('ECONNREFUSED') },
    })
    expect(outline(events)).not.toContain('responseSnapshot raw response')
    expect(events.at(-1)).toMatchObject({ severity: 'error', message: { status: 503 } })
  })

  it('shows an LLM request as it came and as it was translated', async () => {
    const watcher = await watch()
    const response = await fetch(`${gateway.url}/llm/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'claude-x', seed: 7, messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(response.status).toBe(200)
    await response.text()
    const events = await watcher.ended
    expect(outline(events).slice(8)).toEqual([
      'policySelection subBackend',
      'llmRouteResolved',
      'policyEvent translation',
      'llmRequestDetected',
      'requestSnapshot final request',
      'backendCallStart',
      'bodySnapshot final request',
      'backendCallResult',
      'responseSnapshot raw response',
      'responseSnapshot backend response ready',
      'responseSnapshot final response',
      'bodySnapshot response',
      'llmUsage',
      'requestFinished',
    ])
    expect(messageOf(events, 'llmRouteResolved')).toMatchObject({ routeType: 'Completions', provider: 'claude' })
    expect(messageOf(events, 'policyEvent')).toMatchObject({
      details: expect.stringContaining('seed was dropped: best effort') as string,
    })
    expect(messageOf(events, 'llmRequestDetected')).toMatchObject({
      inputFormat: 'Completions',
      outputFormat: 'Messages',
      model: 'claude-x',
      streaming: false,
    })
    expect(messageOf(events, 'llmUsage')).toMatchObject({ inputTokens: 5, outputTokens: 2, costStatus: 'NoCatalog' })
    expect(messageOf(events, 'requestSnapshot', 'final request').requestState).toMatchObject({
      request: { path: '/v1/messages' },
    })
    expect(JSON.parse(bodyOf(events, 'final request'))).toHaveProperty('max_tokens')
    expect(JSON.parse(bodyOf(events, 'response'))).toMatchObject({ choices: [{ message: { content: 'hello' } }] })
  })

  it('puts the calls to MCP servers into a scope of their own', async () => {
    const watcher = await watch()
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    })
    expect(response.status).toBe(200)
    await response.text()
    const events = await watcher.ended
    const lines = outline(events)
    const at = lines.indexOf('one > requestSnapshot final request')
    expect(lines.slice(at, at + 5)).toEqual([
      'one > requestSnapshot final request',
      'one > backendCallStart',
      'one > bodySnapshot final request',
      'one > backendCallResult',
      'one > responseSnapshot raw response',
    ])
    expect(lines.slice(-3)).toEqual(['responseSnapshot final response', 'bodySnapshot response', 'requestFinished'])
    expect(bodyOf(events, 'response')).toContain('"protocolVersion":"2025-06-18"')
  })
})

describe('watchers', () => {
  it('get the request they asked for, and each another one', async () => {
    const [first, second] = [await watch(), await watch()]
    const third = await watch({ expression: 'request.path == "/plain/third"' })
    for (const path of ['/plain/first', '/plain/second', '/plain/none', '/plain/third']) {
      await (await fetch(gateway.url + path)).text()
    }
    const paths = await Promise.all(
      [first, second, third].map(async ({ ended }) => {
        const { requestState } = messageOf(await ended, 'requestSnapshot', 'initial request')
        return (requestState as { request: { path: string } }).request.path
      }),
    )
    expect(paths).toEqual(['/plain/first', '/plain/second', '/plain/third'])
  })

  it('are refused for an expression that does not parse, and for pages of other origins', async () => {
    for (const expression of ['request.pth == "/"', 'response.code == 200']) {
      const misnamed = await watch({ expression })
      expect(misnamed.response.statusCode).toBe(400)
    }
    const bad = await watch({ expression: 'request.path ==' })
    expect(bad.response.statusCode).toBe(400)
    for (const method of ['GET', 'POST'] as const) {
      const page = await watch({ method, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } })
      expect(page.response.statusCode).toBe(403)
    }
  })

  it('that left take no request', async () => {
    const gone = await watch()
    gone.close()
    await gone.ended
    // The next watch is armed on each worker after the one before was forgotten there.
    const watcher = await watch()
    await (await fetch(`${gateway.url}/plain/kept`)).text()
    expect(outline(await watcher.ended)).toContain('requestFinished')
  })

  it('get a sign of life every second', async () => {
    const watcher = await watch({ expression: 'false' })
    await expect.poll(() => watcher.comments, { timeout: 10_000 }).toEqual(['ready', 'keepalive', 'keepalive'])
    watcher.close()
    await watcher.ended
  })

  it('are not more than the bound', async () => {
    const open = []
    for (let i = 0; i < 16; i++) open.push(await watch({ expression: 'false' }))
    expect((await watch()).response.statusCode).toBe(503)
    for (const watcher of open) watcher.close()
    await expect
      .poll(async () => {
        const next = await watch({ expression: 'false' })
        next.close()
        return next.response.statusCode
      })
      .toBe(200)
  })
})
