// Fields of a standalone file on a real proxy: rules of backends, replaced headers, ports without a socket,
// certificates signed on demand.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { authority } from '#test/certificates.ts'
import { ask } from '#test/conformance/suite/ask.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const ANY = { host: '127.0.0.1', port: 0 }
const folder = mkdtempSync(join(tmpdir(), 'gw-standalone-rules-'))
const ca = authority()
const ports = { plain: 0, hidden: 0, secure: 0 }
let server: Server
let proxy: RunningProxy
let url = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('x-server', 'secret')
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  const backend = `127.0.0.1:${await listening(server)}`
  for (const name of ['plain', 'hidden', 'secure'] as const) ports[name] = await freePort()
  writeFileSync(join(folder, 'ca.pem'), ca.certificate)
  writeFileSync(join(folder, 'ca.key'), ca.privateKey)
  const text = `
frontendPolicies: { connect: { mode: tunnel } }
gateways:
  default: { port: ${ports.plain} }
  secure: { port: ${ports.secure}, protocol: HTTPS, tls: { mode: dynamicCa, cert: ca.pem, key: ca.key } }
backends:
- { name: shared, host: "${backend}", policies: { authorization: { rules: [{ deny: 'request.path.endsWith("/shared")' }] } } }
routes:
- name: ruled
  matches: [{ path: { pathPrefix: /ruled } }]
  backends:
  - { host: "${backend}", policies: { authorization: { rules: ['"x-role" in request.headers', { deny: 'request.path.endsWith("/no")' }] } } }
- name: shared
  matches: [{ path: { pathPrefix: /of } }]
  backends: [{ backend: shared, policies: { authorization: { rules: [{ deny: 'request.path.endsWith("/ref")' }] } } }]
- name: replaced
  matches: [{ path: { pathPrefix: /replaced } }]
  policies:
    transformations:
      request: { replace: 'request.headers.filterKeys(k, k.startsWith("x-")).merge({"x-new": [request.method, "2"]})', set: { x-late: '"set"' } }
      response: { replace: '{"content-type": "text/plain"}' }
  backends: [{ host: "${backend}" }]
- name: agents
  matches: [{ path: { pathPrefix: /mcp } }]
  backends: [{ mcp: { targets: [{ name: a, mcp: { host: "${backend}" } }] }, policies: { authorization: { rules: [{ deny: "true" }] } } }]
- name: model
  matches: [{ path: { pathPrefix: /v1 } }]
  backends:
  - ai:
      name: m
      provider: { custom: { formats: [{ type: completions }] } }
      hostOverride: "${backend}"
      policies: { authorization: { rules: [{ deny: "true" }] } }
- { name: signed, gateways: secure, backends: [{ host: "${backend}" }] }
binds:
- { port: ${ports.hidden}, mode: internal, listeners: [{ routes: [{ backends: [{ host: "${backend}" }] }] }] }
policies:
- name: { name: closed }
  target: { backend: { backend: { name: shared } } }
  policy: { authorization: { rules: [{ deny: 'request.path.endsWith("/attached")' }] } }
`
  const { rendered, problems } = loadStandalone({ path: join(folder, 'file.yaml'), text, environment: {} })
  if (rendered === undefined) throw new Error(JSON.stringify(problems))
  const servers = { admin: ANY, stats: ANY, readiness: ANY }
  proxy = await startProxy({ workers: 1, listenAddress: '127.0.0.1', ...servers, accessLog: false, logLevel: 'error' })
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  url = `http://127.0.0.1:${ports.plain}`
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  closeServer(server)
  rmSync(folder, { recursive: true })
})

it('rejects requests by the rules of the backend', async () => {
  const headers = { 'x-role': 'admin' }
  expect(await ask(`${url}/ruled/yes`, { headers })).toMatchObject({ status: 200 })
  expect(await ask(`${url}/ruled/no`, { headers })).toMatchObject({ status: 403 })
  expect(await ask(`${url}/ruled/yes`)).toMatchObject({ status: 403 })
})

it('evaluates the rules of a named backend, of its reference and of a policy with a target', async () => {
  expect(await ask(`${url}/of/others`)).toMatchObject({ status: 200 })
  for (const path of ['shared', 'ref', 'attached']) {
    expect(await ask(`${url}/of/${path}`)).toMatchObject({ status: 403 })
  }
})

it.each([
  // The servers of the backend are called, and these calls are rejected.
  ['an MCP backend', '/mcp', INITIALIZE, 500, 'the MCP server could not be called'],
  ['a provider', '/v1/chat/completions', CHAT, 403, 'authorization failed'],
])('evaluates the rules of %s', async (_kind, path, body, status, error) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const answer = await ask(url + path, { method: 'POST', headers, body })
  expect(answer).toMatchObject({ status, text: expect.stringContaining(error) })
  expect(answer.text).not.toContain('headers')
})

it('replaces the header by a map', async () => {
  const { status, headers, text } = await ask(`${url}/replaced`, { headers: { 'x-a': '1', cookie: 'c=1' } })
  expect(status).toBe(200)
  expect(JSON.parse(text)).toMatchObject({
    headers: { host: `127.0.0.1:${ports.plain}`, 'x-a': '1', 'x-new': 'GET, 2', 'x-late': 'set' },
  })
  expect(text).not.toContain('cookie')
  expect(headers['content-type']).toBe('text/plain')
  expect(headers).not.toHaveProperty('x-server')
})

it('opens no socket for an internal port, which tunnels reach', async () => {
  await expect(ask(`http://127.0.0.1:${ports.hidden}/x`)).rejects.toThrow('ECONNREFUSED')
  const socket = connect(ports.plain, '127.0.0.1')
  socket.write(`CONNECT inside:${ports.hidden} HTTP/1.1\r\nhost: inside:${ports.hidden}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer] // what a socket emits
  expect(head.toString()).toMatch(/^HTTP\/1.1 200 /)
  socket.write('GET /tunnelled HTTP/1.1\r\nhost: inside\r\nconnection: close\r\n\r\n')
  expect(await textOf(socket)).toContain('"url":"/tunnelled"')
})

it('signs a certificate for the server name of a client', async () => {
  const socket = connectTls({
    port: ports.secure,
    host: '127.0.0.1',
    servername: 'any.example',
    ca: ca.certificate,
    ALPNProtocols: ['http/1.1'],
  })
  socket.write('GET /signed HTTP/1.1\r\nhost: any.example\r\nconnection: close\r\n\r\n')
  expect(await textOf(socket)).toContain('"url":"/signed"')
})
