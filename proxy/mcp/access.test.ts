// Which hosts and pages can reach an MCP endpoint, as browsers would try. The first rows are those of the official
// scenario `dns-rebinding-protection`.
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as send, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '#api/ir/types.gen.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { configFor, ON_LOOPBACK } from '#proxy/main.testing.ts'
import { type RunningProxy, startProxy } from '../main.ts'
import { resolveSettings } from '../runtime/settings.ts'

const INIT = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

let server: Server
let calls = 0
const proxies: RunningProxy[] = []
const ports = { plain: 0, listed: 0 }
const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-access-'))
const logFile = join(folder, 'log')

beforeAll(async () => {
  server = createServer((request, response) => {
    calls++
    request.resume()
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))
    })
  })
  const upstream = await listening(server)
  const mcp = {
    targets: [{ name: 'a', ref: { backend: 'ns/server' } }],
    sessionRouting: 'Stateful' as const,
    prefixMode: 'Conditional' as const,
    failureMode: 'FailClosed' as const,
  }
  const cors = { allowOrigins: ['https://app.example.com'] }
  const rewriting = { urlRewrite: { host: 'inner.example' } }
  const jwtAuthentication = {
    mode: 'Strict' as const,
    providers: [{ issuer: 'https://i', jwks: '{"keys":[]}' }],
    mcp: {},
  }
  for (const name of ['plain', 'listed'] as const) {
    const port = await freePort()
    ports[name] = port
    const config = configFor(port, {
      routes: [
        { name: 'server', prefix: '/unused', backend: { static: { host: '127.0.0.1', port: upstream } } },
        { name: 'mcp', prefix: '/mcp', backend: { mcp } },
        { name: 'cors', prefix: '/cors', backend: { mcp }, inline: { cors } },
        { name: 'rewritten', prefix: '/rewritten', backend: { mcp }, inline: rewriting },
        { name: 'named', prefix: '/named', backend: { mcp } },
        { name: 'oauth', prefix: '/.well-known', backend: { mcp }, inline: { jwtAuthentication } },
      ],
      change: (whole) => ({
        ...whole,
        routes: whole.routes.map((route): Route =>
          route.key.includes('named') ? { ...route, hostnames: ['mcp.example.com'] } : route,
        ),
      }),
    })
    const origins = ['https://tool.example.com', 'vscode-file://vscode-app']
    const access = { hosts: ['gateway.test'], origins, redirectUris: undefined }
    const proxy = await startProxy({
      ...ON_LOOPBACK,
      logFd: openSync(logFile, 'a'),
      accessLog: true,
      logLevel: 'info',
      ...(name === 'listed' && { mcpAccess: access }),
    })
    proxies.push(proxy)
    const applied = await proxy.apply(config, { version: 1, secrets: [] })
    if ('problem' in applied) throw new Error(applied.problem.message)
  }
})

afterAll(async () => {
  for (const proxy of proxies) await proxy.stop({ isForced: true })
  closeServer(server)
  rmSync(folder, { recursive: true })
})

interface Asked {
  readonly host?: string
  readonly origin?: string | string[]
  readonly path?: string
  readonly method?: string
  readonly to?: 'plain' | 'listed'
}

function ask({
  host,
  origin,
  path = '/mcp',
  method = 'POST',
  to = 'plain',
}: Asked): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const port = ports[to]
  const headers: Record<string, string | string[]> = {
    ...HEADERS,
    host: (host ?? '127.0.0.1:PORT').replace('PORT', String(port)),
    ...(origin !== undefined && { origin }),
  }
  const own = send({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString()))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  })
  own.on('error', reject)
  own.end(method === 'POST' ? INIT : undefined)
  return promise
}

describe('MCP endpoints', () => {
  it.each<[string, Asked]>([
    ['a name of another site that leads here', { host: 'evil.example.com' }],
    ['the same with its origin', { host: 'evil.example.com', origin: 'http://evil.example.com' }],
    ['a name that begins like a local one', { host: 'localhost.evil.example.com' }],
    ['a name that looks like an address', { host: '127.0.0.1.evil.example.com' }],
    ['an address of the network', { host: '192.168.1.2' }],
    ['a page of another site', { origin: 'http://evil.example.com' }],
    ['a page on another port of this machine', { origin: 'http://localhost:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['two origins, the first of which is its own', { origin: ['http://127.0.0.1:PORT', 'http://evil.example.com'] }],
    ['a page that CORS does not grant', { path: '/cors', origin: 'https://other.example.com' }],
    ['a page of another site, where the host is rewritten', { path: '/rewritten', origin: 'http://inner.example' }],
    ['a page that listens', { method: 'GET', origin: 'http://evil.example.com' }],
    ['a page that deletes', { method: 'DELETE', origin: 'http://evil.example.com' }],
    ['a name that is not listed', { to: 'listed', host: 'other.test' }],
    ['a page that is not listed', { to: 'listed', origin: 'https://other.example.com' }],
  ])('refuse %s with 403', async (_, asked) => {
    const before = calls
    const origin = Array.isArray(asked.origin)
      ? asked.origin.map((one) => one.replace('PORT', String(ports.plain)))
      : asked.origin
    const { status, text } = await ask({ ...asked, ...(origin !== undefined && { origin }) })
    expect([status, calls - before]).toEqual([403, 0])
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } })
  })

  it.each<[string, Asked]>([
    ['the address', {}],
    ['localhost', { host: 'localhost:PORT' }],
    ['a name below localhost', { host: 'gw.localhost' }],
    ['IPv6', { host: '[::1]:PORT' }],
    ['a page of the gateway itself', { origin: 'http://127.0.0.1:PORT' }],
    ['a page of the gateway itself behind TLS', { host: 'localhost', origin: 'https://localhost' }],
    ['a page that CORS grants', { path: '/cors', origin: 'https://app.example.com' }],
    ['a page of the gateway, where the host is rewritten', { path: '/rewritten', origin: 'http://127.0.0.1:PORT' }],
    ['a host name of the route', { path: '/named', host: 'mcp.example.com' }],
    ['a name that is listed', { to: 'listed', host: 'gateway.test:PORT' }],
    ['a page that is listed', { to: 'listed', origin: 'https://tool.example.com' }],
    ['an application that is listed', { to: 'listed', origin: 'vscode-file://vscode-app' }],
  ])('take %s', async (_, asked) => {
    const port = String(ports[asked.to ?? 'plain'])
    const { status } = await ask({
      ...asked,
      ...(typeof asked.origin === 'string' && { origin: asked.origin.replace('PORT', port) }),
    })
    expect(status).toBe(200)
  })

  it.each<[string, Asked, RegExp]>([
    [
      'the host',
      { host: 'first.evil.example' },
      /the Host of the request is not .*: add it to MCP_ALLOWED_HOSTS, or give/,
    ],
    [
      'the origin',
      { origin: 'http://first.evil.example' },
      /the Origin of the .*: add it to MCP_ALLOWED_ORIGINS, or allow/,
    ],
  ])('log what to do about %s', async (_, asked, message) => {
    expect((await ask(asked)).status).toBe(403)
    await until('the line is written', () => message.test(readFileSync(logFile, 'utf8')))
  })

  it('return the token metadata to pages of all sites, and nothing else', async () => {
    const origin = 'https://inspector.example.com'
    const metadata = await ask({ method: 'GET', path: '/.well-known/oauth-protected-resource/mcp', origin })
    expect(metadata.status).toBe(200)
    const rebound = await ask({
      method: 'GET',
      path: '/.well-known/oauth-protected-resource/mcp',
      host: 'evil.example.com',
    })
    expect(rebound.status).toBe(403)
  })
})

describe('settings', () => {
  it.each([
    [{}, { hosts: [], origins: [] }],
    [{ POD_NAME: 'gw-1' }, { hosts: ['*'], origins: [] }],
    [
      { MCP_ALLOWED_HOSTS: 'A.test, b.test', GW_MCP_ALLOWED_ORIGINS: 'https://c.test' },
      { hosts: ['a.test', 'b.test'], origins: ['https://c.test'] },
    ],
    [
      { MCP_REDIRECT_URIS: 'https://a.test/Callback, cursor://mcp/*' },
      { hosts: [], origins: [], redirectUris: ['https://a.test/Callback', 'cursor://mcp/*'] },
    ],
  ])('%j', (environment, access) => {
    expect(resolveSettings({}, environment).settings.mcpAccess).toEqual(access)
  })

  it.each([
    ['MCP_ALLOWED_HOSTS', 'a.test:80'],
    ['MCP_ALLOWED_ORIGINS', 'a.test'],
    ['MCP_REDIRECT_URIS', 'https://a.test*'],
    ['MCP_REDIRECT_URIS', 'javascript:alert(1)'],
  ])('%s=%s is refused', (name, value) => {
    const { problems } = resolveSettings({}, { [name]: value })
    expect(problems).toEqual([expect.objectContaining({ path: name, reason: 'InvalidEnvironment' })])
  })
})
