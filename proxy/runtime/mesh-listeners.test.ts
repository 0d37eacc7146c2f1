// Listeners with the certificate of the mesh, through a real proxy: TLS, mutual TLS and tunnels, renewal and expiry.
import { once } from 'node:events'
import http2 from 'node:http2'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { issue, type Issued, SPIFFE_ID, startAuthority, type TestAuthority } from '../mesh/authority.testing.ts'
import { ask } from '../tls/client.testing.ts'
import { startTlsProxy, type TlsTestProxy } from '../tls/proxy.testing.ts'

const SEEN =
  '=(has(source.identity) ? source.identity.trustDomain + " " + source.identity.namespace : "unknown") + " " + source.address'
/** Of a certificate, after its receipt. */
const LIFE_MS = 4000
const SIMPLE = 'simple.test'
const MUTUAL = 'mutual.test'
/** An alert, or a connection that ends without one. */
const REJECTED = /alert|closed|ECONNRESET|EPIPE|disconnected|premature/i

let authority: TestAuthority
let proxy: TlsTestProxy
let ports: { readonly plain: number; readonly tls: number; readonly hbone: number }
const open: { destroy(): unknown }[] = []

async function stop(): Promise<void> {
  for (const one of open.splice(0)) one.destroy()
  await proxy.stop()
  authority.close()
}

async function prepare(): Promise<void> {
  authority = await startAuthority()
  ports = { plain: await freePort(), tls: await freePort(), hbone: await freePort() }
}

async function start(): Promise<void> {
  const mesh = { ...authority.settings, additionalTrustDomains: ['b.example'] }
  proxy = await startTlsProxy(
    {
      listeners: [
        { name: 'plain', port: ports.plain, protocol: 'HTTP', answers: SEEN },
        {
          name: 'simple',
          port: ports.tls,
          protocol: 'HTTPS',
          hostname: SIMPLE,
          tls: { mesh: 'Simple' },
          answers: SEEN,
        },
        {
          name: 'mutual',
          port: ports.tls,
          protocol: 'HTTPS',
          hostname: MUTUAL,
          tls: { mesh: 'Mutual' },
          answers: SEEN,
        },
        { name: 'hbone', port: ports.hbone, protocol: 'HBONE', tls: { mesh: 'Mutual' } },
      ],
    },
    1,
    { mesh },
  )
}

/** Started, and with a certificate in the worker. */
async function startWithCertificate(): Promise<void> {
  await prepare()
  await start()
  await until('the certificate', async () => (await spiffeIdAt(SIMPLE).catch(() => '')) === `URI:${SPIFFE_ID}`)
}

function workload(
  uri = 'spiffe://cluster.local/ns/shop/sa/cart',
  root: Issued = authority.root,
): tls.ConnectionOptions {
  const { certificate, privateKey } = issue({ issuer: root, uris: [uri], commonName: 'workload' })
  return { cert: certificate, key: privateKey }
}

/** Rejects when the handshake fails, or the proxy closes the connection right after it. */
async function connect(port: number, options: tls.ConnectionOptions): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    ca: authority.root.certificate,
    checkServerIdentity: () => undefined,
    ...options,
  })
  open.push(socket)
  await once(socket, 'secureConnect')
  // After an alert a TLS socket stays open.
  socket.on('error', () => socket.destroy())
  return socket
}

async function spiffeIdAt(servername: string, options: tls.ConnectionOptions = {}): Promise<string | undefined> {
  const socket = await connect(ports.tls, { servername, ...options })
  return socket.getPeerX509Certificate()?.subjectAltName
}

async function bodyAt(servername: string, options: tls.ConnectionOptions = {}): Promise<string> {
  const socket = await connect(ports.tls, { servername, ...options })
  return (await ask(socket, servername)).body
}

async function session(options = workload()): Promise<http2.ClientHttp2Session> {
  const socket = await connect(ports.hbone, { ALPNProtocols: ['h2'], ...options })
  const made = http2.connect('https://hbone', { createConnection: () => socket })
  made.on('error', () => undefined)
  open.push(made)
  await Promise.race([
    once(made, 'remoteSettings'),
    once(made, 'close').then(() => Promise.reject(new Error('closed'))),
  ])
  return made
}

async function tunnel(
  from: http2.ClientHttp2Session,
  authorityField: string,
): Promise<{ status: number; stream: Duplex }> {
  const stream = from.request({ ':method': 'CONNECT', ':authority': authorityField })
  stream.on('error', () => undefined)
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status'?: number }] // of node:http2
  return { status: head[':status'] ?? 0, stream }
}

async function through(stream: Duplex): Promise<string> {
  stream.write('GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n')
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

describe('a listener with the certificate of the mesh', () => {
  beforeAll(startWithCertificate)
  afterAll(stop)

  it('serves every client with ISTIO_SIMPLE, and trusts no identity', async () => {
    expect(await bodyAt(SIMPLE)).toBe('unknown 127.0.0.1')
    expect(await bodyAt(SIMPLE, workload())).toBe('unknown 127.0.0.1')
  })

  it.each([
    ['the own trust domain', 'spiffe://cluster.local/ns/shop/sa/cart', 'cluster.local shop 127.0.0.1'],
    ['an additional trust domain', 'spiffe://b.example/ns/other/sa/a', 'b.example other 127.0.0.1'],
  ])('serves workloads of %s with ISTIO_MUTUAL', async (_, uri, body) => {
    expect(await bodyAt(MUTUAL, workload(uri))).toBe(body)
  })

  it.each<[string, () => tls.ConnectionOptions]>([
    ['no certificate', () => ({})],
    ['another trust domain', () => workload('spiffe://c.example/ns/shop/sa/cart')],
    ['no identity of a workload', () => workload('spiffe://cluster.local/shop/cart')],
    ['a name that only looks like an identity', () => workload('https://cluster.local/ns/shop/sa/cart')],
    ['another root', () => workload(undefined, issue({ commonName: 'root', isAuthority: true }))],
  ])('rejects clients with %s', async (_, options) => {
    await expect(bodyAt(MUTUAL, options())).rejects.toThrow(REJECTED)
    await expect(session(options())).rejects.toThrow(REJECTED)
    expect(await proxy.metric('gw_tls_handshake_failures_total')).toBeGreaterThanOrEqual(2)
  })
})

describe('a listener with protocol HBONE', () => {
  beforeAll(startWithCertificate)
  afterAll(stop)

  it('passes the identity of the client on to the port that the tunnel leads to', async () => {
    const { status, stream } = await tunnel(await session(), `10.0.0.1:${ports.plain}`)
    expect(status).toBe(200)
    expect(await through(stream)).toContain('cluster.local shop 127.0.0.1')
  })

  it('serves many tunnels of one connection', { tags: ['full'] }, async () => {
    const client = await session()
    const bodies = Array.from({ length: 50 }, async () => {
      const { stream } = await tunnel(client, `10.0.0.1:${ports.plain}`)
      return through(stream)
    })
    for (const body of await Promise.all(bodies)) expect(body).toContain('cluster.local shop')
  })

  it('serves nothing but tunnels, and no tunnel to a port that is not open', async () => {
    const client = await session()
    expect((await tunnel(client, '10.0.0.1:1')).status).toBe(404)
    expect((await tunnel(client, '10.0.0.1')).status).toBe(400)
    const stream = client.request({ ':path': '/', ':authority': 'a.test' })
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status'?: number }] // of node:http2
    expect(head[':status']).toBe(404)
  })

  it('opens no tunnel through a tunnel', async () => {
    const { stream } = await tunnel(await session(), `10.0.0.1:${ports.plain}`)
    stream.write('CONNECT 10.0.0.1:80 HTTP/1.1\r\nhost: 10.0.0.1:80\r\n\r\n')
    const [answer] = (await once(stream, 'data')) as [Buffer] // no encoding is set
    expect(answer.toString()).not.toMatch(/^HTTP\/1.1 200/)
  })

  it('rejects clients that speak HTTP/1.1 only', { tags: ['full'] }, async () => {
    await expect(connect(ports.hbone, { ...workload(), ALPNProtocols: ['http/1.1'] })).rejects.toThrow(REJECTED)
  })
})

describe('the certificate of the mesh in a worker', () => {
  afterEach(stop)

  it('rejects handshakes while there is no certificate, and serves its other listeners', async () => {
    await prepare()
    authority.answer = () => ({ code: 14, details: 'down' })
    await start()
    await expect(bodyAt(SIMPLE)).rejects.toThrow(REJECTED)
    await expect(session()).rejects.toThrow(REJECTED)
    expect(await (await fetch(`http://127.0.0.1:${ports.plain}/`)).text()).toBe('unknown 127.0.0.1')
    let dump = ''
    // The first request for a certificate runs beside the others.
    await until('the request for a certificate has failed', async () => {
      dump = await (await fetch(`http://127.0.0.1:${proxy.proxy.ports.admin}/config_dump`)).text()
      return dump.includes('down')
    })
    expect(JSON.parse(dump)).toMatchObject({
      binds: expect.arrayContaining([expect.objectContaining({ tunnelProtocol: 'hboneGateway' })]),
      config: { mesh: { state: 'missing', lastError: expect.stringContaining('down') } },
    })
  })

  it(
    'shows a renewed certificate, and rejects handshakes after the end of the last one',
    { tags: ['full'], timeout: 100_000 },
    async () => {
      await prepare()
      authority.answer = ({ csr }) => {
        const untilMs = Math.ceil(Date.now() / 1000) * 1000 + LIFE_MS
        return [authority.sign(csr, { fromMs: untilMs - 2 * LIFE_MS, untilMs }), authority.root.certificate]
      }
      await start()
      let first: tls.TLSSocket | undefined
      await until('a certificate', async () => {
        first = await connect(ports.tls, { servername: SIMPLE }).catch(() => undefined)
        return first !== undefined
      })
      const kept = first?.getPeerX509Certificate()?.fingerprint256
      await until('the next certificate', async () => {
        const next = await connect(ports.tls, { servername: SIMPLE }).catch(() => undefined)
        return next !== undefined && next.getPeerX509Certificate()?.fingerprint256 !== kept
      })
      // The previous connection is served all the same.
      expect(first && (await ask(first, SIMPLE)).body).toBe('unknown 127.0.0.1')
      authority.answer = () => ({ code: 14, details: 'down' })
      await until('handshakes are rejected', () =>
        spiffeIdAt(SIMPLE).then(
          () => false,
          (error: Error) => REJECTED.test(error.message),
        ),
      )
    },
  )
})
