// Lists over servers that are large, slow or wrong.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'

const PAGES = 100
const PAGE_ITEMS = 100

interface Asked {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly cursor?: string }
}

type Answer = (asked: Asked) => object | 'Hang' | 'HangInBody'

const servers: Server[] = []
let gateway: TestProxy

/** Of a former version, without sessions. */
async function upstream(name: string, answer: Answer): Promise<{ readonly name: string; readonly port: number }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // Messages of the gateway.
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked
      if (asked.id === undefined) return void response.writeHead(202).end()
      const result = asked.method === 'initialize' ? INITIALIZED : answer(asked)
      if (result === 'Hang') return undefined
      response.writeHead(200, { 'content-type': 'application/json' })
      if (result === 'HangInBody') return void response.write('{"jsonrpc":')
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }))
    })
  })
  servers.push(server)
  return { name, port: await listening(server) }
}

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'x', version: '1' },
}
const SLOW = { http: { requestTimeoutMs: 300 } }

beforeAll(async () => {
  const many = await upstream('many', ({ params }) => {
    const page = Number(params?.cursor ?? 0)
    const tools = Array.from({ length: PAGE_ITEMS }, (_, index) => ({ name: `t${page}-${index}` }))
    return { tools, ...(page + 1 < PAGES && { nextCursor: String(page + 1) }) }
  })
  const endless = await upstream('endless', () => ({ tools: [{ name: 'x' }], nextCursor: 'again' }))
  const twice = await upstream('twice', () => ({ tools: [{ name: 'x', v: 1 }, { name: 'x', v: 2 }, { name: 'y' }] }))
  const hanging = await upstream('hanging', () => 'Hang')
  const halfway = await upstream('halfway', () => 'HangInBody')
  const slow = [hanging, halfway].map((server) => {
    const route = upstreamRoute(server)
    return { ...route, backend: { ...route.backend, inlinePolicies: SLOW } }
  })
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...[many, endless, twice].map(upstreamRoute),
      ...slow,
      mcpRoute('many', [many]),
      mcpRoute('endless', [endless]),
      mcpRoute('twice', [twice]),
      mcpRoute('slow', [twice, hanging, halfway], { failureMode: 'FailOpen' }),
      mcpRoute('closed', [twice, hanging]),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) closeServer(server)
})

async function list(route: string): Promise<{ readonly status: number; readonly text: string }> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const send = (body: object): Promise<Response> =>
    fetch(`${gateway.url}/${route}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    })
  const clientInfo = { name: 't', version: '1' }
  const opened = await send({
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await opened.text()
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? ''
  const response = await send({ method: 'tools/list' })
  return { status: response.status, text: await response.text() }
}

function namesIn(text: string): string[] {
  // An event with the response.
  const { result } = JSON.parse(text.slice(text.indexOf('{'))) as { result: { tools: { name: string }[] } }
  return result.tools.map(({ name }) => name)
}

describe('a list', () => {
  it('has 10,000 tools of 100 pages', async () => {
    const names = namesIn((await list('many')).text)
    expect(names).toHaveLength(PAGES * PAGE_ITEMS)
    expect(new Set(names).size).toBe(PAGES * PAGE_ITEMS)
  })

  it('of a server without a last page fails', async () => {
    expect((await list('endless')).status).toBe(500)
  })

  it('has the first item of a name that a server lists twice', async () => {
    const { text } = await list('twice')
    expect(namesIn(text)).toEqual(['x', 'y'])
    expect(text).toContain('"v":1')
  })

  it('waits for a server until its deadline', async () => {
    const startMs = performance.now()
    expect(namesIn((await list('slow')).text)).toEqual(['twice_x', 'twice_y'])
    expect(performance.now() - startMs).toBeLessThan(10_000)
    expect((await list('closed')).status).toBe(500)
  })
})
