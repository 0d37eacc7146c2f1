// `tunnelProtocol` of binds on a real proxy: PROXY headers, CONNECT, and tunnels of workloads of a mesh.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import http2 from 'node:http2'
import { connect, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { issue, startAuthority, type TestAuthority } from '#proxy/mesh/authority.testing.ts'
import { proxyHeader2 } from '#proxy/socket/proxy-header.testing.ts'
import { ask } from '#test/conformance/suite/ask.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'

const ANY = { host: '127.0.0.1', port: 0 }
const CART = 'spiffe://cluster.local/ns/shop/sa/cart'
/** Of a trust domain that is not named anywhere. */
const ELSEWHERE = 'spiffe://c.example/ns/shop/sa/cart'
const REQUEST = 'GET /x HTTP/1.1\r\nhost: inside\r\nconnection: close\r\n\r\n'
const ports = { hidden: 0, headers: 0, tunnels: 0, mesh: 0 }
let authority: TestAuthority
let server: Server
let proxy: RunningProxy

beforeAll(async () => {
  authority = await startAuthority()
  server = createServer((request, response) =>
    response.end(`${request.url} for ${String(request.headers['x-client'])}`),
  )
  const backend = `127.0.0.1:${await listening(server)}`
  for (const name of ['hidden', 'headers', 'tunnels', 'mesh'] as const) ports[name] = await freePort()
  const client = 'transformations: { request: { set: { x-client: source.address } } }'
  const routes = `routes: [{ policies: { ${client} }, backends: [{ host: "${backend}" }] }]`
  const text = `
binds:
- { port: ${ports.hidden}, mode: internal, listeners: [{ ${routes} }] }
- { port: ${ports.headers}, tunnelProtocol: proxy, listeners: [{ ${routes} }] }
- { port: ${ports.tunnels}, tunnelProtocol: connect, listeners: [{ ${routes} }] }
- { port: ${ports.mesh}, tunnelProtocol: hboneGateway, listeners: [{ protocol: HBONE }] }
`
  const { rendered, problems } = loadStandalone({ path: '/nowhere/file.yaml', text, environment: {} })
  if (rendered === undefined) throw new Error(JSON.stringify(problems))
  const servers = { admin: ANY, stats: ANY, readiness: ANY }
  const process = { workers: 1, listenAddress: '127.0.0.1', accessLog: false, logLevel: 'error' }
  proxy = await startProxy({ ...process, ...servers, mesh: { ...authority.settings, acceptsAnyTrustDomain: true } })
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  closeServer(server)
  authority.close()
})

function headerOf(source: string): Buffer {
  return proxyHeader2({ sourceAddress: source, sourcePort: 1000, localAddress: '10.0.0.1', localPort: 80 })
}

it('proxy: takes the address of the client from the PROXY header', async () => {
  const socket = connect(ports.headers, '127.0.0.1')
  socket.write(headerOf('192.0.2.7'))
  socket.write(REQUEST)
  expect(await textOf(socket)).toContain('/x for 192.0.2.7')
})

it('proxy: closes connections without a PROXY header', async () => {
  const socket = connect(ports.headers, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(REQUEST)
  await once(socket, 'close')
  expect(socket.bytesRead).toBe(0)
})

it('connect: opens tunnels to other ports, and serves requests', async () => {
  const socket = connect(ports.tunnels, '127.0.0.1')
  socket.write(`CONNECT inside:${ports.hidden} HTTP/1.1\r\nhost: inside:${ports.hidden}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer] // what a socket emits
  expect(head.toString()).toMatch(/^HTTP\/1.1 200 /)
  socket.write(REQUEST)
  expect(await textOf(socket)).toContain('/x for 127.0.0.1')
  expect(await ask(`http://127.0.0.1:${ports.tunnels}/y`)).toMatchObject({ status: 200, text: '/y for 127.0.0.1' })
})

it.each([CART, ELSEWHERE])('hboneGateway: opens tunnels of %s to other ports', async (uri) => {
  const session = await vi.waitFor(() => meshSession(uri), { timeout: 10_000, interval: 100 })
  const stream = session.request({ ':method': 'CONNECT', ':authority': `10.0.0.1:${ports.hidden}` })
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status'?: number }] // of node:http2
  expect(head[':status']).toBe(200)
  stream.write(REQUEST)
  expect(await textOf(stream)).toContain('/x for 127.0.0.1')
  session.destroy()
})

/** Rejects while the proxy has no certificate of the mesh. */
async function meshSession(uri: string): Promise<http2.ClientHttp2Session> {
  const { certificate, privateKey } = issue({ issuer: authority.root, uris: [uri], commonName: 'workload' })
  const socket: Socket = tls.connect({
    host: '127.0.0.1',
    port: ports.mesh,
    ca: authority.root.certificate,
    cert: certificate,
    key: privateKey,
    ALPNProtocols: ['h2'],
    checkServerIdentity: () => undefined,
  })
  await once(socket, 'secureConnect')
  const session = http2.connect('https://hbone', { createConnection: () => socket })
  session.on('error', () => undefined)
  await once(session, 'remoteSettings')
  return session
}
