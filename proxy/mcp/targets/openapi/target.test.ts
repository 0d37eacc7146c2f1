// An HTTP API as MCP server, through the gateway with official clients.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenApiTarget } from '#api/ir/types.gen.ts'
import { readOpenApi } from '#api/openapi/operations.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { legacyUpstream, mcpRoute, type Upstream, upstreamRoute } from '../../servers.testing.ts'

const PETS = join(import.meta.dirname, '..', '..', '..', '..', 'api', 'openapi', 'testdata', 'pets.yaml')

interface Seen {
  readonly line: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const seen: Seen[] = []
let api: Server
let mcp: Upstream
let gateway: TestProxy

function answer({ url = '', method }: IncomingMessage, response: ServerResponse): void {
  if (url.endsWith('/photo')) return void response.writeHead(200, { 'content-type': 'image/png' }).end('PNG')
  if (method === 'DELETE') return void response.writeHead(204).end()
  if (url.endsWith('/pets/silent')) return void response.destroy()
  const [status, body] = url.endsWith('/pets/none') ? [404, { error: 'no such pet' }] : [200, [{ name: 'Rex' }]]
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(url.endsWith('/pets/1') ? { name: 'Rex' } : body))
}

beforeAll(async () => {
  api = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers } = request
      seen.push({ line: `${request.method} ${request.url}`, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
  })
  const port = await listening(api)
  mcp = await legacyUpstream('demo')
  const read = readOpenApi(readFileSync(PETS, 'utf8'))
  if ('problem' in read) throw new Error(read.problem)
  const { problems: _, operations, ...document } = read
  const openapi: OpenApiTarget = { ...document, operations: [...operations] }
  const pets = { name: 'pets', ref: { backend: `ns/up-${port}` }, openapi }
  const route = (name: string, more: readonly { name: string; ref: { backend: string } }[] = []) =>
    mcpRoute(name, [], { targets: [pets, ...more] })
  gateway = await testProxy({
    routes: [
      upstreamRoute({ port }),
      upstreamRoute(mcp),
      route('pets'),
      route('both', [{ name: 'demo', ref: { backend: `ns/up-${mcp.port}` } }]),
      mcpRoute('gone', [], { targets: [{ ...pets, ref: { backend: 'ns/none' } }] }),
    ],
    secrets: { key: 'api-key' },
    policies: [
      {
        key: 'auth',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'auth' },
        target: { backend: { namespace: 'ns', name: 'pets', section: 'pets' } },
        policy: { backend: { auth: { key: { secret: 'key' } } } },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(api)
  closeServer(mcp.server)
})

async function withClient<T>(route: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 't', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`)))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

async function withLegacyClient<T>(route: string, work: (client: LegacyClient) => Promise<T>): Promise<T> {
  const client = new LegacyClient({ name: 't', version: '1' })
  const headers = { authorization: 'Bearer of-the-client' }
  await client.connect(new LegacyTransport(new URL(`${gateway.url}/${route}`), { requestInit: { headers } }))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

describe('an OpenAPI target', () => {
  it('offers its operations as tools, and nothing else', async () => {
    await withLegacyClient('pets', async (client) => {
      expect(client.getServerCapabilities()).toEqual({ tools: {} })
      expect(client.getServerVersion()).toEqual({ name: 'Pets', version: '1.2.0' })
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(['listPets', 'createPet', 'getPet', 'deletePet', 'getPhoto'])
      expect(tools[0]).toMatchObject({ inputSchema: { type: 'object', required: ['header'] } })
      await client.ping()
    })
  })

  it('sends path, query, headers and body, and returns JSON as text and structured content', async () => {
    await withLegacyClient('pets', async (client) => {
      const header = { 'X-Tenant': 'acme' }
      const query = { limit: 2, tag: ['a b', 'c'], color: ['red', 'blue'], filter: { age: 3 } }
      const listed = await client.callTool({ name: 'listPets', arguments: { header, query } })
      expect(listed).toEqual({
        content: [{ type: 'text', text: '[{"name":"Rex"}]' }],
        structuredContent: { data: [{ name: 'Rex' }] },
      })
      const { line, headers } = seen.at(-1) ?? {}
      expect(line).toBe('GET /api/v1/pets?limit=2&tag=a%20b&tag=c&color=red,blue&filter%5Bage%5D=3')
      expect(headers).toMatchObject({ 'x-tenant': 'acme', accept: 'application/json, */*;q=0.8' })
      expect(headers).not.toHaveProperty('mcp-session-id')

      await client.callTool({ name: 'createPet', arguments: { header, body: { name: 'Ann' } } })
      expect(seen.at(-1)).toMatchObject({ line: 'POST /api/v1/pets', body: '{"name":"Ann"}' })
      expect(seen.at(-1)?.headers).toMatchObject({ 'content-type': 'application/json' })
      const pet = await client.callTool({ name: 'getPet', arguments: { path: { id: '1' } } })
      expect(pet.structuredContent).toEqual({ name: 'Rex' })
    })
  })

  it('has the credential of its policies, never that of the client', async () => {
    await withLegacyClient('pets', (client) => client.callTool({ name: 'getPet', arguments: { path: { id: '1' } } }))
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer api-key')
    await withLegacyClient('both', (client) =>
      client.callTool({ name: 'pets_getPet', arguments: { path: { id: '1' } } }),
    )
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization')
  })

  it('returns errors of the API, and content that is not text, as results', async () => {
    await withLegacyClient('pets', async (client) => {
      const call = (name: string, id: string) => client.callTool({ name, arguments: { path: { id } } })
      expect(await call('getPet', 'none')).toEqual({
        content: [{ type: 'text', text: 'The API answered with status 404.\n{"error":"no such pet"}' }],
        isError: true,
      })
      expect(await call('getPhoto', '1')).toMatchObject({
        content: [{ text: 'The API answered with status 200 and content of type image/png, which is not text.' }],
        isError: true,
      })
      expect(await call('deletePet', '1')).toEqual({ content: [] })
    })
  })

  it.each(['..', '.', '', undefined])('rejects the path parameter %j', async (id) => {
    const before = seen.length
    await withLegacyClient('pets', async (client) => {
      await expect(client.callTool({ name: 'getPet', arguments: { path: { id } } })).rejects.toMatchObject({
        code: -32_602,
      })
    })
    expect(seen).toHaveLength(before)
  })

  it.each([
    ['a/../b?c#d', '/api/v1/pets/a%2F..%2Fb%3Fc%23d'],
    ['\ud800', '/api/v1/pets/%EF%BF%BD'],
  ])('keeps the path parameter %j in its segment', async (id, path) => {
    await withLegacyClient('pets', (client) => client.callTool({ name: 'getPet', arguments: { path: { id } } }))
    expect(seen.at(-1)?.line).toBe(`GET ${path}`)
  })

  it('rejects unknown tools and methods', async () => {
    await withLegacyClient('pets', async (client) => {
      await expect(client.callTool({ name: 'toString' })).rejects.toMatchObject({ code: -32_602 })
      await expect(client.getPrompt({ name: 'x' })).rejects.toMatchObject({ code: -32_601 })
    })
  })

  it('fails if the API does not answer or does not exist', async () => {
    await withLegacyClient('pets', async (client) => {
      await expect(client.callTool({ name: 'getPet', arguments: { path: { id: 'silent' } } })).rejects.toThrow(
        'could not be called',
      )
    })
    await expect(withLegacyClient('gone', (client) => client.listTools())).rejects.toThrow('could not be called')
  })

  it('serves clients of MCP 2026-07-28, and stands beside MCP servers', async () => {
    await withClient('pets', async (client) => {
      const pet = await client.callTool({ name: 'getPet', arguments: { path: { id: '1' } } })
      expect(pet.structuredContent).toEqual({ name: 'Rex' })
    })
    await withClient('both', async (client) => {
      const names = (await client.listTools()).tools.map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(['pets_getPet', 'demo_whoami']))
      expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['demo_hello'])
      expect(await client.callTool({ name: 'demo_whoami' })).toMatchObject({ content: [{ text: 'demo' }] })
    })
  })
})
