// Servers that break the protocol in calls of tools: the client gets an error within its time, the log has the reason,
// a metric counts the call, and the next call works.
// @module-tag full
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'
import { MESSAGE_BYTES_MAX } from './targets/target.ts'

const REQUEST_MS = 1500
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }
const FLOOD_BYTES = 4 * MESSAGE_BYTES_MAX
const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-bad-'))
const logFile = join(folder, 'log')
const responseTo = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'fine' }] } })

/** Bytes that the server has sent in its last flood. */
let flooded = 0

/** By the name of the tool. */
const BEHAVIOURS: Readonly<Record<string, (response: ServerResponse, id: number) => unknown>> = {
  fine: (response, id) => response.writeHead(200, JSON_TYPE).end(responseTo(id)),
  hangs: () => {},
  'hangs in its stream': (response) => response.writeHead(200, EVENTS).flushHeaders(),
  resets: (response) => response.destroy(),
  'resets in its response': (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' }).write('{"jsonrpc":"2.0",')
    setTimeout(() => response.destroy(), 50)
  },
  'closes its stream': (response) => response.writeHead(200, EVENTS).end(),
  'is not JSON': (response) => response.writeHead(200, JSON_TYPE).end('<html>'),
  'sends other JSON': (response) => response.writeHead(200, JSON_TYPE).end('{"result":1}'),
  'sends more JSON than can be read': (response, id) =>
    response
      .writeHead(200, JSON_TYPE)
      .end(`{"jsonrpc":"2.0","id":${id},"result":{"rows":[${'{},'.repeat(100_000)}{}]}}`),
  'sends an event that is not JSON': (response) => response.writeHead(200, EVENTS).end('data: x\n\n'),
  'forges an id': (response, id) => response.writeHead(200, JSON_TYPE).end(responseTo(id + 1)),
  'forges ids in its stream': (response, id) => response.writeHead(200, EVENTS).end(`data: ${responseTo(id + 1)}\n\n`),
  floods: (response) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    flooded = 0
    const more = (): void => {
      while (!response.destroyed && flooded < FLOOD_BYTES) {
        flooded += chunk.length
        if (!response.write(chunk)) return void response.once('drain', more)
      }
      response.end()
    }
    response.writeHead(200, JSON_TYPE)
    more()
  },
}

const CLOSED = 'bad: connection closed by the backend'
const NOT_A_MESSAGE = 'bad: the server sent something that is not a JSON-RPC message'
const FORGED = 'bad: dropped messages about requests that were not sent to this server'
/** In the log. */
const REASONS: readonly (readonly [name: string, reason: string])[] = [
  ['hangs', 'request timeout'],
  ['hangs in its stream', 'request timeout: the response was cut short'],
  ['resets', CLOSED],
  ['resets in its response', CLOSED],
  ['closes its stream', 'bad: the server closed its stream without a response'],
  ['is not JSON', NOT_A_MESSAGE],
  ['sends other JSON', NOT_A_MESSAGE],
  [
    'sends more JSON than can be read',
    'bad: a message of the server cannot be read: the JSON has more than 100000 objects, arrays and members',
  ],
  ['sends an event that is not JSON', NOT_A_MESSAGE],
  ['forges an id', FORGED],
  ['forges ids in its stream', FORGED],
  ['floods', `bad: body is larger than ${MESSAGE_BYTES_MAX} bytes`],
]

let open = 0
const server = createServer((request, response) => {
  open++
  response.once('close', () => open--)
  void textOf(request).then((text) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    // Messages of this test.
    const { id = 0, method, params } = JSON.parse(text) as { id?: number; method: string; params?: { name?: string } }
    if (method !== 'initialize') return BEHAVIOURS[params?.name ?? '']?.(response, id)
    const serverInfo = { name: 'bad', version: '1' }
    const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
    return response
      .writeHead(200, { ...JSON_TYPE, 'mcp-session-id': 'kept' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
})
let gateway: TestProxy
let session: string

async function post(id: number, method: string, params: object): Promise<{ status: number; text: string; id: string }> {
  const response = await fetch(`${gateway.url}/bad`, {
    method: 'POST',
    headers: { ...HEADERS, ...(session !== '' && { 'mcp-session-id': session }) },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  })
  const own = response.headers.get('mcp-session-id') ?? ''
  return { status: response.status, text: await response.text(), id: own }
}

beforeAll(async () => {
  const port = await listening(server)
  const route = mcpRoute('bad', [{ name: 'bad', port }])
  gateway = await testProxy({
    workers: 1,
    routes: [upstreamRoute({ port }), { ...route, inline: { timeouts: { requestMs: REQUEST_MS } } }],
    settings: { logFd: openSync(logFile, 'a'), accessLog: true, logLevel: 'info' },
  })
  session = ''
  session = (await post(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })).id
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
  rmSync(folder, { recursive: true, force: true })
})

describe('a call of a tool of a server that', () => {
  it.each(REASONS)('%s fails, and the next call works', async (name, reason) => {
    const startMs = performance.now()
    const { text } = await post(7, 'tools/call', { name }).catch((error: unknown) => ({ text: String(error) }))
    expect(performance.now() - startMs).toBeLessThan(10_000)
    expect(text).not.toContain('fine')
    const line = (): string | undefined =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .find((one) => one.includes(`"${name}"`) || one.includes(`=${name} `))
    await until('the log has the call', () => line() !== undefined, 5000)
    expect(line()).toContain(`error="${reason}"`)
    expect((await post(8, 'tools/call', { name: 'fine' })).text).toContain('fine')
    await until('the server has no open response', () => open === 0)
  })

  it('floods is read up to the limit of a message', async () => {
    await post(9, 'tools/call', { name: 'floods' })
    expect(flooded).toBeGreaterThan(MESSAGE_BYTES_MAX)
    // With what the sockets hold.
    expect(flooded).toBeLessThan(FLOOD_BYTES / 2)
  })

  it('is counted with its server and its tool', async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)
    const metrics = await response.text()
    expect(metrics).toMatch(/gw_mcp_requests_total\{[^}]*server="bad"/)
    // Nothing that a server sends is a defect of the gateway.
    expect(metrics).toContain('# TYPE gw_internal_errors_total')
    expect(metrics).not.toMatch(/^gw_internal_errors_total\S* [1-9]/m)
  })
})
