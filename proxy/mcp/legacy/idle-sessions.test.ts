// Sessions that clients leave without ending them.
// @module-tag full
import { createServer } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

const TTL_MS = 1000

let servers: LegacyUpstream[]
/** Answers calls when a test does so, as JSON: no stream shows that it is at work. */
const slow = { isOpen: false, call: undefined as ((answer: string) => void) | undefined }
const slowServer = createServer((request, response) => {
  void textOf(request).then((text) => {
    const answer = (body: string): unknown =>
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' }).end(body)
    if (text.includes('"initialize"')) slow.isOpen = true
    else if (request.method === 'DELETE') slow.isOpen = false
    else if (text.includes('tools/call')) {
      slow.call = answer
      return
    }
    const serverInfo = { name: 's', version: '1' }
    answer(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo },
      }),
    )
  })
})
let gateway: TestProxy

beforeAll(async () => {
  servers = await Promise.all([legacyUpstream('a'), legacyUpstream('b')])
  const slowOne = { name: 'slow', port: await listening(slowServer) }
  gateway = await testProxy({
    workers: 3,
    routes: [...[...servers, slowOne].map(upstreamRoute), mcpRoute('two', servers), mcpRoute('slow', [slowOne])],
    settings: { mcpSessionTtlMs: TTL_MS },
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of servers) closeServer(server)
  closeServer(slowServer)
})

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const open = (): number[] => servers.map(({ openSessions }) => openSessions())

/** Each request has a connection of its own: the system chooses the worker. */
async function post(message: object, headers: Record<string, string> = {}, route = 'two'): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
  return fetch(`${gateway.url}/${route}`, {
    method: 'POST',
    headers: { ...POSTED, connection: 'close', ...headers },
    body,
  })
}

async function newSession(route = 'two'): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const response = await post({ method: 'initialize', params }, {}, route)
  await response.text()
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
}

describe('a session that no client uses', () => {
  it('ends at all servers, is counted, and is opened again for a client that returns', async () => {
    const session = await newSession()
    expect(servers.map(({ seen }) => seen.includes('initialize'))).toEqual([true, true])
    await until('the servers have no session', () => open().every((count) => count === 0))
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
    await until('it is counted', async () =>
      (await metrics()).includes('gw_mcp_server_sessions_total{event="expired",server="b"'),
    )
    const response = await post({ method: 'tools/call', params: { name: 'b_whoami' } }, session)
    expect(await response.text()).toContain('"text":"b"')
    expect(open()).toEqual([0, 1])
    await until('it is counted', async () =>
      (await metrics()).includes('gw_mcp_server_sessions_total{event="reopened",server="b"'),
    )
    await until('it ends again', () => open().every((count) => count === 0))
  })
})

describe('a session in use', { tags: ['full'] }, () => {
  it('stays while requests arrive at any worker', async () => {
    const session = await newSession()
    const endMs = performance.now() + 3 * TTL_MS
    while (performance.now() < endMs) await (await post({ method: 'ping' }, session)).text()
    expect(open()).toEqual([1, 1])
    await fetch(`${gateway.url}/two`, { method: 'DELETE', headers: session })
    expect(open()).toEqual([0, 0])
  })

  it('stays while a call is in progress', async () => {
    const session = await newSession('slow')
    const call = post({ method: 'tools/call', params: { name: 'x' } }, session, 'slow')
    await until('the server has the call', () => slow.call !== undefined)
    // The time of another session ends later.
    await newSession()
    await until('the other session has ended', () => open().every((count) => count === 0))
    expect(slow.isOpen).toBe(true)
    slow.call?.('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}')
    expect(await (await call).text()).toContain('content')
    await until('it ends', () => !slow.isOpen)
  })

  it('stays while a client listens', async () => {
    for (const { seen } of servers) seen.splice(0)
    const client = new Client({ name: 't', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/two`))
    await client.connect(transport)
    await until('the gateway listens', () => servers.every(({ seen }) => seen.includes('GET')))
    // The time of another session ends later.
    await newSession()
    await until('the other session has ended', () => open().every((count) => count === 1))
    await transport.terminateSession()
    expect(open()).toEqual([0, 0])
    await client.close()
  })
})
