// Sign-in at an MCP server itself: clients get its challenge and documents if it is the only server and no policy of
// the gateway authenticates.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { type TestIssuer, testIssuer } from '../../auth/jwt.testing.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const DOCUMENT = '/.well-known/oauth-protected-resource/own'
const CHALLENGE = 'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource"'

const seen: IncomingMessage[] = []
let server: Server
let gateway: TestProxy
let issuer: TestIssuer

beforeAll(async () => {
  issuer = await testIssuer('https://issuer.example')
  server = createServer((request, response) => {
    seen.push(request)
    const path = new URL(request.url ?? '/', 'http://server').pathname
    if (path === '/moved') response.writeHead(307, { location: 'https://mcp.example/new' }).end()
    else if (path === DOCUMENT && request.method === 'OPTIONS') {
      response.writeHead(204, { 'access-control-allow-origin': '*' }).end()
    } else if (path === DOCUMENT) {
      response.setHeader('access-control-allow-origin', '*')
      response.end(
        JSON.stringify({ resource: 'https://mcp.example/mcp', authorization_servers: ['https://as.example'] }),
      )
    } else if (path === '/.well-known/large') response.end('x'.repeat(300_000))
    else response.writeHead(401, { 'www-authenticate': CHALLENGE, 'x-internal': 'yes' }).end('{}')
  })
  const port = await listening(server)
  const target = (name: string) => ({ name, ref: { backend: 'ns/server' } })
  const mcp = (targets: { name: string; ref: { backend: string }; path?: string }[]) => ({
    mcp: { targets, sessionRouting: 'Stateful', prefixMode: 'Conditional', failureMode: 'FailClosed' } as const,
  })
  const withToken = { mode: 'Strict' as const, providers: [issuer.provider] }
  gateway = await testProxy({
    routes: [
      { name: 'server', prefix: '/unused', backend: { static: { host: '127.0.0.1', port } } },
      { name: 'documents', prefix: '/.well-known', backend: mcp([target('a')]) },
      { name: 'own', prefix: '/own', backend: mcp([target('a')]) },
      { name: 'moved', prefix: '/moved', backend: mcp([{ ...target('a'), path: '/moved' }]) },
      { name: 'two', prefix: '/two', backend: mcp([target('a'), target('b')]) },
      { name: 'guarded', prefix: '/guarded', backend: mcp([target('a')]), inline: { jwtAuthentication: withToken } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
})

async function initialize(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(INITIALIZE),
  })
  await response.body?.cancel()
  return response
}

describe('the challenge of a server', () => {
  it('reaches the client', async () => {
    const { status, headers } = await initialize('/own')
    expect([status, headers.get('www-authenticate'), headers.get('x-internal')]).toEqual([401, CHALLENGE, null])
  })

  it('reaches the client with a redirect', async () => {
    const { status, headers } = await initialize('/moved')
    expect([status, headers.get('location')]).toEqual([307, 'https://mcp.example/new'])
  })

  it('does not reach the client if there are several servers', async () => {
    expect((await initialize('/two')).headers.get('www-authenticate')).toBeNull()
  })

  it('does not reach a client that the gateway has authenticated', async () => {
    const { status, headers } = await initialize('/guarded', { authorization: `Bearer ${await issuer.token({})}` })
    expect([status, headers.get('www-authenticate')]).toEqual([401, null])
  })
})

describe('the documents of a server', () => {
  it('reach pages of all sites', async () => {
    const response = await fetch(`${gateway.url}${DOCUMENT}?a=1`, { headers: { origin: 'https://page.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toMatchObject({ authorization_servers: ['https://as.example'] })
    expect(seen.at(-1)?.url).toBe(`${DOCUMENT}?a=1`)
    const preflight = await fetch(gateway.url + DOCUMENT, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
  })

  it('are bounded', async () => {
    const response = await fetch(`${gateway.url}/.well-known/large`)
    await response.body?.cancel()
    expect(response.status).toBe(500)
  })

  it('get no POST', async () => {
    const before = seen.length
    const response = await fetch(gateway.url + DOCUMENT, { method: 'POST' })
    await response.body?.cancel()
    expect([response.status, seen.length]).toEqual([406, before])
  })
})
