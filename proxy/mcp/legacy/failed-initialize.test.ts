// Sessions that no client gets: servers that opened theirs for an `initialize` that failed as a whole end it at once.
// @module-tag full
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})

const SOON_MS = 5000

let a: LegacyUpstream
/** Opens a session and rejects `initialize`, or the notification after it. */
let strict: Server
let hanging: Server
const ended: string[] = []
let gateway: TestProxy

beforeAll(async () => {
  a = await legacyUpstream('a')
  strict = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', 'mcp-session-id': 's' }).end(body)
    })
  })
  hanging = createServer(() => {})
  const servers = {
    a,
    dead: { name: 'dead', port: await freePort() },
    strict: { name: 'strict', port: await listening(strict) },
    hanging: { name: 'hanging', port: await listening(hanging) },
  }
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...Object.values(servers).map(upstreamRoute),
      mcpRoute('dead', [a, servers.dead]),
      mcpRoute('hanging', [a, servers.hanging]),
      mcpRoute('strict', [servers.strict]),
      mcpRoute('stateless', [servers.strict], { sessionRouting: 'Stateless' }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of [a.server, strict, hanging]) closeServer(server)
})

let rejects = 'initialize'
/** Before the answer to `initialize`. */
let onInitialize = (): Promise<void> => Promise.resolve()

async function answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body: string }> {
  if (request.method === 'DELETE') {
    ended.push(String(request.headers['mcp-session-id']))
    return { status: 200, body: '' }
  }
  // Messages of this test and of the gateway.
  const { id, method } = (await json(request)) as { id?: number; method: string }
  if (method === 'initialize') await onInitialize()
  if (id === undefined) return { status: rejects === method ? 500 : 202, body: '' }
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
  const error = { code: -32_000, message: 'no' }
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, ...(rejects === method ? { error } : { result }) }) }
}

function initialize(route: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/${route}`, {
    method: 'POST',
    headers: HEADERS,
    body: INITIALIZE,
    signal: signal ?? null,
  })
}

function list(signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  return fetch(`${gateway.url}/stateless`, { method: 'POST', headers: HEADERS, body, signal: signal ?? null })
}

it('a session at a server ends if another server fails', async () => {
  const response = await initialize('dead')
  expect(response.status).toBe(500)
  await until('the session has ended', () => a.seen.includes('DELETE'))
  expect(a.openSessions()).toBe(0)
})

it('a session at a server ends if the client leaves before all servers have answered', async () => {
  a.seen.splice(0)
  const client = new AbortController()
  const request = initialize('hanging', client.signal).catch(() => undefined)
  await until('the server has a session', () => a.openSessions() === 1)
  client.abort()
  await request
  // Long before the other server's time is up.
  await until('the session has ended', () => a.seen.includes('DELETE'), SOON_MS)
  expect(a.openSessions()).toBe(0)
})

it.each(['strict', 'stateless'])('a session ends that a server opens while its client leaves (%s)', async (route) => {
  rejects = ''
  ended.splice(0)
  const asked = Promise.withResolvers<void>()
  const allowed = Promise.withResolvers<void>()
  onInitialize = () => {
    asked.resolve()
    return allowed.promise
  }
  const client = new AbortController()
  const request = (route === 'strict' ? initialize(route, client.signal) : list(client.signal)).catch(() => undefined)
  await asked.promise
  client.abort()
  expect(await request).toBeUndefined()
  // The worker reads the end of the connection before later requests.
  for (let i = 0; i < 2; i++) await (await fetch(`${gateway.url}/unknown`)).text()
  allowed.resolve()
  await until('the session has ended', () => ended.length > 0)
  onInitialize = () => Promise.resolve()
})

it('a session ends that a server opened with an error', async () => {
  rejects = 'initialize'
  ended.splice(0)
  expect((await initialize('strict')).status).toBe(500)
  await until('the session has ended', () => ended.length > 0)
})

it('a session of the gateway ends if the server rejects its confirmation', async () => {
  rejects = 'notifications/initialized'
  ended.splice(0)
  const response = await list()
  expect(response.status).toBe(500)
  await until('the session has ended', () => ended.length > 0)
})
