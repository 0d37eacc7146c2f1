// A tenant's backends and a proxy as in `gw proxy serve`: no kind of backend or service can connect to this host, and
// above all not to the proxy's own admin server.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { adminTokenFile } from '#api/admin/token-file.ts'
import type { JwtAuthentication, Policy } from '#api/ir/types.gen.ts'
import { loadSource } from '#cli/source.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { configFor, ON_LOOPBACK } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { ask } from '../conformance/suite/ask.ts'

const CLIENT_TEXT = 'backend address not allowed'

let folder: string
let logFd: number
let inside: Server
let onSocket: Server
let connections = 0
let proxy: RunningProxy
let ports: { readonly http: number; readonly tcp: number }

/** All kinds of backends of a tenant: the paths of the HTTP route are the names of the backends. */
function backends(port: number, admin: number, unixPath: string): Readonly<Record<string, object>> {
  return {
    admin: { static: { host: 'localhost', port: admin } },
    name: { static: { host: 'localhost', port } },
    address: { static: { host: '127.0.0.1', port } },
    mapped: { static: { host: '::ffff:127.0.0.1', port } },
    metadata: { static: { host: '169.254.169.254', port: 80 } },
    unix: { static: { unixPath } },
    http2: { static: { host: 'localhost', port }, policies: { http: { version: 'HTTP2' } } },
    model: { ai: { provider: { p1: { model: 'm' }, host: 'localhost', port } } },
    agent: { a2a: { host: 'localhost', port } },
    tools: { mcp: { targets: [{ name: 'tools', static: { host: 'localhost', port } }] } },
    through: {
      static: { host: 'far.test', port: 80 },
      policies: { tunnel: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'address' } } },
    },
  }
}

const GATEWAY_API = 'gateway.networking.k8s.io'
const REF = { group: 'gw.dev', kind: 'GwBackend' }

function manifests(all: Readonly<Record<string, object>>): string {
  const metadata = (name: string): object => ({ name, namespace: 'default' })
  const rules = [...Object.keys(all), 'service'].map((name) => ({
    name,
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [name === 'service' ? { name, port: 80 } : { ...REF, name }],
  }))
  const extAuth = { backendRef: { ...REF, name: 'address' }, http: {} }
  const objects = [
    {
      apiVersion: `${GATEWAY_API}/v1`,
      kind: 'Gateway',
      metadata: metadata('web'),
      spec: {
        gatewayClassName: 'gw',
        listeners: [
          { name: 'http', port: ports.http, protocol: 'HTTP' },
          { name: 'tcp', port: ports.tcp, protocol: 'TCP' },
        ],
      },
    },
    ...Object.entries(all).map(([name, spec]) => ({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: metadata(name),
      spec,
    })),
    { apiVersion: 'v1', kind: 'Service', metadata: metadata('service'), spec: { ports: [{ name: 'a', port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata('service'), labels: { 'kubernetes.io/service-name': 'service' } },
      addressType: 'IPv6',
      // An API server rejects loopback, but not in this form.
      endpoints: [{ addresses: ['64:ff9b::7f00:1'], conditions: { ready: true } }],
      ports: [{ name: 'a', port: 80 }],
    },
    {
      apiVersion: `${GATEWAY_API}/v1`,
      kind: 'HTTPRoute',
      metadata: metadata('web'),
      spec: {
        parentRefs: [{ name: 'web', sectionName: 'http' }],
        rules: [
          ...rules,
          { name: 'asked', matches: [{ path: { value: '/asked' } }], backendRefs: [{ ...REF, name: 'address' }] },
        ],
      },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: metadata('asked'),
      spec: {
        targetRefs: [{ group: GATEWAY_API, kind: 'HTTPRoute', name: 'web', sectionName: 'asked' }],
        traffic: { extAuth },
      },
    },
    {
      apiVersion: `${GATEWAY_API}/v1alpha2`,
      kind: 'TCPRoute',
      metadata: metadata('bytes'),
      spec: { parentRefs: [{ name: 'web', sectionName: 'tcp' }], rules: [{ backendRefs: [{ ...REF, name: 'name' }] }] },
    },
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-inside-'))
  logFd = openSync(join(folder, 'log'), 'a')
  ports = { http: await freePort(), tcp: await freePort() }
  ;[inside, onSocket] = [createServer(), createServer()]
  for (const server of [inside, onSocket]) {
    server.on('connection', () => connections++)
    server.on('request', (_request, response) => response.end('inside'))
  }
  const unixPath = join(folder, 'a.sock')
  onSocket.listen(unixPath)
  proxy = await startProxy({ ...ON_LOOPBACK, logFd, logFormat: 'json', servesTenants: true })
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, manifests(backends(await listening(inside), proxy.ports.admin, unixPath)))
  const source = await loadSource(file)
  if ('problem' in source || source.rendered === undefined) throw new Error(JSON.stringify(source))
  if (source.problems.length > 0) throw new Error(source.problems.map(({ message }) => message).join('\n'))
  const applied = await proxy.apply(source.rendered.config, source.rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  for (const server of [inside, onSocket]) closeServer(server)
  closeSync(logFd)
  rmSync(folder, { recursive: true })
})

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port // a listening TCP server has one
}

interface Line {
  readonly message?: string
  readonly error?: string
  readonly 'http.path'?: string
}

/** Errors of the requests for a path in the log of the proxy. */
async function logged(isLine: (line: Line) => boolean): Promise<string> {
  let error: string | undefined
  await until('the line of the log', () => {
    const lines = readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean)
    error = lines.map((line): Line => JSON.parse(line)).find(isLine)?.error
    return error !== undefined
  })
  return error ?? ''
}

describe('a backend of a tenant', () => {
  it.each(['admin', 'name', 'address', 'mapped', 'metadata', 'unix', 'http2', 'agent', 'through', 'service'])(
    '%s answers 503 without a connection, and the log has address, backend and cure',
    async (name) => {
      const { status, text } = await ask(`http://127.0.0.1:${ports.http}/${name}`)
      expect([status, text]).toEqual([503, CLIENT_TEXT])
      const error = await logged((line) => line['http.path'] === `/${name}`)
      const backend = name === 'service' ? 'service/default/service.default.svc.cluster.local:80' : `default/${name}`
      expect(error).toContain(`backend ${backend}: `)
      expect(error).toMatch(/ is not allowed for backends; allow it with GW_BACKEND_ALLOW_(ADDRESSES|UNIX_PATHS)$/)
      expect(connections).toBe(0)
    },
  )

  it('is named with its address in the trace of the request', async () => {
    const token = readFileSync(adminTokenFile(proxy.ports.admin), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    const trace = await fetch(`http://127.0.0.1:${proxy.ports.admin}/debug/trace`, { headers })
    expect(trace.status).toBe(200)
    let text = ''
    // Bytes of a response of fetch.
    for await (const chunk of trace.body as AsyncIterable<Uint8Array>) {
      if (text === '') await ask(`http://127.0.0.1:${ports.http}/address`)
      text += Buffer.from(chunk).toString()
    }
    expect(text).toContain('backend default/address: address 127.0.0.1 is not allowed for backends; allow it with GW_')
  })

  it('that is a model answers 503 without a connection', async () => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const url = `http://127.0.0.1:${ports.http}/model/v1/chat/completions`
    const { status, text } = await ask(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect([status, text]).toEqual([503, expect.stringContaining(CLIENT_TEXT)])
    const error = await logged((line) => line['http.path'] === '/model/v1/chat/completions')
    expect(error).toMatch(/^backend default\/model: address .* of localhost is not allowed for backends; allow it with/)
    expect(connections).toBe(0)
  })

  it('that is an MCP server is not called, and clients do not get its address', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const { status, text } = await ask(`http://127.0.0.1:${ports.http}/tools`, { method: 'POST', body, headers })
    expect(status).toBeGreaterThanOrEqual(500)
    expect(text).not.toContain('127.0.0.1')
    expect(await logged((line) => line['http.path'] === '/tools')).toContain('is not allowed for backends')
    expect(connections).toBe(0)
  })

  it('that a policy uses is not called, and the request is denied', async () => {
    const { status } = await ask(`http://127.0.0.1:${ports.http}/asked`)
    expect(status).toBe(403)
    expect(connections).toBe(0)
  })

  it('of a TCP route gets no connection', async () => {
    const socket = connect(ports.tcp, '127.0.0.1')
    const { promise, resolve } = Promise.withResolvers<string>()
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    expect(await promise).toBe('')
    const error = await logged((line) => line.error?.includes('backend default/name: ') === true)
    expect(error).toContain('is not allowed for backends; allow it with GW_BACKEND_ALLOW_ADDRESSES')
    expect(connections).toBe(0)
  })
})

describe('an identity provider that a policy names', () => {
  it.each([
    ['GET', '/.well-known/oauth-authorization-server/mcp'],
    ['POST', '/.well-known/oauth-authorization-server/mcp/client-registration'],
  ])('%s %s sends nothing to this host', async (method, path) => {
    const port = await freePort()
    const own = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'off', servesTenants: true })
    const before = connections
    try {
      const issuer = `http://localhost:${portOf(inside)}`
      const jwtAuthentication: JwtAuthentication = {
        mode: 'Strict',
        providers: [{ issuer, jwks: '{"keys":[]}' }],
        mcp: { provider: 'Keycloak' },
      }
      const policy: Policy = {
        key: 'traffic/ns/p',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'p' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: { traffic: { jwtAuthentication } },
      }
      const routes = [{ name: 'all', prefix: '/', backend: { static: { host: '192.0.2.1', port: 80 } } }]
      const applied = await own.apply(configFor(port, { routes, policies: [policy] }), { version: 1, secrets: [] })
      expect(applied).not.toHaveProperty('problem')
      const body = method === 'POST' ? JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }) : ''
      const headers = { 'content-type': 'application/json' }
      const answer = await ask(`http://127.0.0.1:${port}${path}`, { method, headers, body })
      expect(answer.status).toBeGreaterThanOrEqual(500)
      expect(answer.text).not.toContain('127.0.0.1')
      expect(connections).toBe(before)
    } finally {
      await own.stop({ isForced: true })
    }
  })
})

describe('if an administrator allows loopback', () => {
  it('the admin server rejects every request without its token', async () => {
    const port = await freePort()
    const settings = { ...ON_LOOPBACK, accessLog: false, logLevel: 'error', servesTenants: true } as const
    const own = await startProxy({ ...settings, backendAllow: { addresses: ['127.0.0.0/8', '::1'], unixPaths: [] } })
    try {
      const backend = { static: { host: 'localhost', port: own.ports.admin } }
      const routes = [{ name: 'all', prefix: '/', backend }]
      const applied = await own.apply(configFor(port, { routes }), { version: 1, secrets: [] })
      expect(applied).not.toHaveProperty('problem')
      const headers = { host: 'localhost', authorization: 'Bearer x' }
      for (const path of ['/config_dump', '/debug/trace', '/debug/tasks', '/debug/pprof/heap', '/logging', '/memory'])
        expect((await ask(`http://127.0.0.1:${port}${path}`, { headers })).status).toBe(401)
      for (const path of ['/quitquitquit', '/logging?level=off', '/debug/trace'])
        expect((await ask(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers })).status).toBe(401)
    } finally {
      await own.stop({ isForced: true })
    }
  })
})
