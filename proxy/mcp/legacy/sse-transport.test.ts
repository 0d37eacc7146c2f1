// The transport of MCP 2024-11-05 towards clients: streams of workers and replicas, their end, and invalid messages.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { jsonSealer } from '../../auth/json-sealer.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from '../servers.testing.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const KEY = new Uint8Array(32).fill(7)

let servers: LegacyUpstream[]
let gateway: TestProxy

/** A server that confirms its session later. */
const slow = {
  confirm: undefined as (() => void) | undefined,
  /** Sessions by DELETE. */
  ended: [] as unknown[],
  server: createServer((request, response) => {
    if (request.method === 'DELETE') slow.ended.push(request.headers['mcp-session-id'])
    if (request.method !== 'POST') {
      response.end()
      return
    }
    const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'slow', version: '1' } }
    slow.confirm = () => {
      response.writeHead(200, { ...JSON_TYPE, 'mcp-session-id': 'slow-1' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
    }
  }),
}

beforeAll(async () => {
  servers = await Promise.all([legacyUpstream('a'), legacyUpstream('b')])
  const late = { name: 'slow', port: await listening(slow.server) }
  const routes = [
    ...[...servers, late].map(upstreamRoute),
    mcpRoute('slow', [late]),
    mcpRoute('two', servers),
    mcpRoute('other', servers),
    mcpRoute('stateless', servers, { sessionRouting: 'Stateless' }),
  ]
  gateway = await testProxy({ workers: 2, routes, sessionKey: KEY })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of [...servers, slow]) closeServer(server)
})

/** A stream, read event by event. */
class Stream {
  readonly #left = new AbortController()
  #text = ''
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  async open(path: string): Promise<string> {
    const response = await fetch(gateway.url + path, {
      headers: { accept: 'text/event-stream' },
      signal: this.#left.signal,
    })
    this.#reader = response.body?.getReader()
    const [, place = ''] = /^event: endpoint\ndata: (.+)$/.exec(await this.next()) ?? []
    return place
  }

  async next(): Promise<string> {
    while (!this.#text.includes('\n\n')) {
      const step = await this.#reader?.read()
      if (step?.value === undefined) throw new Error('the stream has ended')
      this.#text += Buffer.from(step.value).toString()
    }
    const end = this.#text.indexOf('\n\n')
    const event = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 2)
    return event
  }

  leave(): void {
    this.#left.abort()
  }
}

async function send(url: string, body: string, headers: Record<string, string> = JSON_TYPE): Promise<[number, string]> {
  const response = await fetch(url, { method: 'POST', headers, body })
  return [response.status, await response.text()]
}

/** As another replica with the same key names its streams. */
function onOtherReplica(place: string): string {
  const ids = jsonSealer({ kind: 4, keys: [KEY], charactersMax: 2048 })
  const [path, id = ''] = place.split('sessionId=')
  const sealed = ids.open(id)
  if (sealed === undefined || sealed === 'UnknownKey') throw new Error('the id is not sealed with the key')
  return `${path}sessionId=${ids.seal({ ...sealed, i: `${randomUUID()}.${randomUUID()}` })}`
}

const seen = (method: string): number => servers.flatMap((server) => server.seen).filter((one) => one === method).length

describe('a client of 2024-11-05 that leaves', () => {
  it('ends its sessions at all servers', async () => {
    for (const { seen: requests } of servers) requests.splice(0)
    const client = new Client({ name: 't', version: '1' })
    await client.connect(new SSEClientTransport(new URL(`${gateway.url}/two/sse`)))
    await until('the gateway listens to both servers', () => seen('GET') === 2)
    expect((await client.listTools()).tools).toHaveLength(10)
    await client.close()
    await until('both sessions are ended', () => servers.every(({ openSessions }) => openSessions() === 0))
    expect(seen('DELETE')).toBe(2)
  })

  it('ends the session that a server has opened, but not yet confirmed', async () => {
    const stream = new Stream()
    const place = await stream.open('/slow/sse')
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    await send(gateway.url + place, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
    await until('the server has opened a session', () => slow.confirm !== undefined)
    stream.leave()
    await until('the stream has ended', async () => (await send(gateway.url + place, PING))[0] === 404)
    slow.confirm?.()
    await until('the session is ended', () => slow.ended.length > 0)
    expect(slow.ended).toEqual(['slow-1'])
  })
})

describe('messages for a stream', () => {
  it('name the path of the client, and are answered on the stream', async () => {
    const stream = new Stream()
    const place = await stream.open('/stateless/sse')
    expect(place).toMatch(/^\/stateless\/sse\?sessionId=[\w-]+$/)
    expect(await send(gateway.url + place, PING)).toEqual([202, ''])
    expect(await stream.next()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}')
    stream.leave()
  })

  it('reach the stream from every worker', async () => {
    const stream = new Stream()
    const place = await stream.open('/stateless/sse')
    // A connection of its own for each: the system chooses the worker.
    const headers = { ...JSON_TYPE, connection: 'close' }
    const ids = Array.from({ length: 12 }, (_, id) => id)
    await Promise.all(ids.map((id) => send(gateway.url + place, PING.replace('"id":1', `"id":${id}`), headers)))
    const answers: number[] = []
    while (answers.length < ids.length) answers.push(Number(/"id":(\d+)/.exec(await stream.next())?.[1]))
    expect(answers.toSorted((a, b) => a - b)).toEqual(ids)
    stream.leave()
  })

  it('get an error before initialize', async () => {
    const stream = new Stream()
    const place = await stream.open('/two/sse')
    expect(await send(gateway.url + place, PING)).toEqual([202, ''])
    expect(await stream.next()).toContain('"error":{"code":-32600,"message":"this event stream has no session')
    stream.leave()
  })

  it('get 404 on another replica, on another route, with a forged id, and after the end of the stream', async () => {
    const stream = new Stream()
    const place = await stream.open('/stateless/sse')
    const notFound = [404, expect.stringContaining('another replica of the gateway has it')]
    expect(await send(gateway.url + onOtherReplica(place), PING)).toEqual(notFound)
    expect(await send(gateway.url + place.replace('/stateless/', '/other/'), PING)).toEqual(notFound)
    expect(await send(`${gateway.url}/stateless/sse?sessionId=x`, PING)).toEqual(notFound)
    expect(await send(gateway.url + place, PING)).toEqual([202, ''])
    stream.leave()
    await until('the stream has ended', async () => (await send(gateway.url + place, PING))[0] === 404)
  })

  it('are rejected if they are not JSON-RPC, or have two ids of streams', async () => {
    const stream = new Stream()
    const place = gateway.url + (await stream.open('/stateless/sse'))
    expect((await send(place, '{}'))[0]).toBe(400)
    expect((await send(place, PING, { 'content-type': 'text/plain' }))[0]).toBe(415)
    expect((await send(`${place}&sessionId=x`, PING))[0]).toBe(422)
    expect((await send(place, PING, { ...JSON_TYPE, 'mcp-protocol-version': '2026-07-28' }))[0]).toBe(400)
    stream.leave()
  })
})
