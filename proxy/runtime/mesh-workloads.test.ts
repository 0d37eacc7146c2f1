// Requests to workloads of a mesh through a real proxy: only through tunnels, to the right workload, in all protocols.
// @module-tag full
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Policy, RenderedConfig, Workload } from '#api/ir/types.gen.ts'
import { freePort } from '#test/ports.ts'
import { issue, SPIFFE_ID, startAuthority, type TestAuthority } from '../mesh/authority.testing.ts'
import { startWorkload, type TestWorkload } from '../mesh/workload.testing.ts'
import { configOf, startTlsProxy, type TlsTestProxy } from '../tls/proxy.testing.ts'

const CART = 'spiffe://cluster.local/ns/shop/sa/cart'
const HOSTNAME = 'cart.shop.svc.cluster.local'

let authority: TestAuthority
let proxy: TlsTestProxy
let workload: TestWorkload | undefined
let ports: { readonly http: number; readonly tcp: number }
const servers: (net.Server | http.Server)[] = []

beforeEach(async () => {
  authority = await startAuthority()
  ports = { http: await freePort(), tcp: await freePort() }
})
afterEach(async () => {
  await proxy.stop()
  workload?.close()
  workload = undefined
  for (const server of servers.splice(0)) server.close()
  authority.close()
})

async function listening(server: net.Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as net.AddressInfo).port // a listening TCP server has one
}

const answer = (request: http.IncomingMessage, response: http.ServerResponse): void => {
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => response.end(`${request.method} ${request.headers.host} ${bytes}`))
}

interface Service {
  readonly changes?: Partial<Workload>
  readonly policy?: Policy['policy'] | undefined
  readonly appProtocol?: string | undefined
}

interface Options extends Service {
  readonly uri?: string
  readonly mesh?: 'member' | 'none'
}

/** A Service with one workload, whose application listens on `port`. */
async function start(port: number, options: Options = {}): Promise<void> {
  const { uri = CART, mesh = 'member', changes = {}, policy, appProtocol } = options
  workload = await startWorkload(authority.root, uri)
  proxy = await startTlsProxy(
    { listeners: [{ name: 'http', port: ports.http, protocol: 'HTTP', answers: 'unset' }] },
    1,
    mesh === 'none' ? {} : { mesh: { ...authority.settings, tunnelPort: workload.port } },
  )
  const applied = await proxy.proxy.apply(configTo(port, { changes, policy, appProtocol }), { version: 1, secrets: [] })
  if ('problem' in applied) throw new Error(applied.problem.message)
}

function configTo(port: number, { changes, policy, appProtocol }: Service): RenderedConfig {
  const listeners = [
    { name: 'http', port: ports.http, protocol: 'HTTP' as const, backends: [['cart', 1]] as const },
    { name: 'tcp', port: ports.tcp, protocol: 'TCP' as const, backends: [['cart', 1]] as const },
  ]
  const config = configOf({ listeners })
  const ref = { service: { namespace: 'shop', hostname: HOSTNAME, port: 80 } }
  return {
    ...config,
    routes: config.routes.map((route) => ({ ...route, backends: [{ weight: 1, ref }] })),
    tcpRoutes: config.tcpRoutes.map((route) => ({ ...route, backends: [{ weight: 1, ref }] })),
    policies:
      policy === undefined
        ? []
        : [
            {
              key: 'p',
              name: { kind: 'GwPolicy', namespace: 'shop', name: 'p' },
              target: { service: { namespace: 'shop', hostname: HOSTNAME } },
              policy,
            },
          ],
    services: [
      {
        name: 'cart',
        namespace: 'shop',
        hostname: HOSTNAME,
        ports: [{ port: 80, ...(appProtocol !== undefined && { appProtocol }) }],
      },
    ],
    workloads: [
      {
        uid: 'cart',
        name: 'cart',
        namespace: 'shop',
        serviceAccount: 'cart',
        protocol: 'HBONE',
        addresses: ['127.0.0.1'],
        healthy: true,
        services: [{ namespace: 'shop', hostname: HOSTNAME, ports: [{ port: 80, targetPort: port }] }],
        ...changes,
      },
    ],
  }
}

async function call(body?: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${ports.http}/`, body === undefined ? {} : { method: 'POST', body })
  return { status: response.status, text: await response.text() }
}

async function untilServed(body?: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const { status, text } = await call(body)
      expect(status).toBe(200)
      return text
    },
    { timeout: 5000 },
  )
}

describe('a workload of the mesh', () => {
  it('gets requests through a tunnel, with the identity of the proxy', async () => {
    const port = await listening(http.createServer(answer))
    await start(port)
    expect(await untilServed()).toBe(`GET 127.0.0.1:${ports.http} 0`)
    expect(workload?.tunnels).toContain(`127.0.0.1:${port}`)
    expect(new Set(workload?.peers)).toEqual(new Set([`URI:${SPIFFE_ID}`]))
  })

  it('gets large bodies, and 50 requests at a time over one connection', { tags: ['full'] }, async () => {
    await start(await listening(http.createServer(answer)))
    const body = 'x'.repeat(1_000_000)
    expect(await untilServed(body)).toContain('POST')
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(body)))
    for (const { text } of answers) expect(text).toContain(' 1000000')
    expect(workload?.peers).toHaveLength(1)
  })

  it('gets HTTP/2 through a tunnel', async () => {
    const server = http2.createServer((request, response) => response.end(`h2 ${request.httpVersion}`))
    await start(await listening(server), { appProtocol: 'kubernetes.io/h2c' })
    expect(await untilServed()).toBe('h2 2.0')
    expect(workload?.tunnels).toHaveLength(1)
  })

  it('gets TLS of the backend through a tunnel', { tags: ['full'] }, async () => {
    const root = issue({ commonName: 'backend', isAuthority: true })
    const own = issue({ issuer: root, commonName: HOSTNAME, uris: ['https://a.test'] })
    const server = https.createServer({ cert: own.certificate, key: own.privateKey }, answer)
    const tls = { caCertificates: root.certificate, verifySubjectAltNames: ['https://a.test'] }
    await start(await listening(server), { policy: { backend: { tls } } })
    expect(await untilServed()).toContain('GET')
  })

  it('gets connections of a TCP listener through a tunnel', { tags: ['full'] }, async () => {
    await start(await listening(net.createServer((socket) => socket.pipe(socket))))
    await vi.waitFor(
      async () => {
        const socket = net.connect(ports.tcp, '127.0.0.1')
        socket.end('hello')
        let text = ''
        for await (const chunk of socket) text += String(chunk)
        expect(text).toBe('hello')
      },
      { timeout: 5000 },
    )
    expect(workload?.peers.length).toBeGreaterThan(0)
  })

  it.each<[string, Options]>([
    ['another identity', { uri: 'spiffe://cluster.local/ns/shop/sa/other' }],
    ['another trust domain than its own', { changes: { trustDomain: 'b.example' } }],
    ['an invalid name of a service account', { changes: { serviceAccount: 'a/b' } }],
  ])('gets nothing if it has %s', async (_, options) => {
    const port = await listening(http.createServer(answer))
    await start(port, options)
    await vi.waitFor(async () => expect(JSON.stringify(await meshState())).toContain('"valid"'))
    expect((await call()).status).toBe(503)
    expect(workload?.tunnels).toEqual([])
  })

  it('gets nothing in clear text while the proxy has no certificate', async () => {
    authority.answer = () => ({ code: 14, details: 'down' })
    await start(await listening(http.createServer(answer)))
    const { status, text } = await call()
    expect(status).toBe(503)
    expect(text).toContain('the upstream proxy cannot be used')
  })

  it('gets plain connections from a proxy that is part of no mesh', async () => {
    const port = await listening(http.createServer(answer))
    await start(port, { mesh: 'none' })
    expect(await untilServed()).toContain('GET')
    expect(workload?.tunnels).toEqual([])
  })
})

async function meshState(): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${proxy.proxy.ports.admin}/config_dump`)
  return ((await response.json()) as { config: { mesh: unknown } }).config.mesh // of a running proxy
}
