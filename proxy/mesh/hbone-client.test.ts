// Tunnels to workloads, against a server of node:http2 that has certificates of a mesh.
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DialOutcome } from '../upstream/dial.ts'
import { issue, type Issued, meshCertificate, SPIFFE_ID } from './authority.testing.ts'
import { HboneClient, type HboneDestination } from './hbone-client.ts'
import { HBONE_LIMITS } from './hbone-limits.ts'
import type { MeshIdentity } from './mesh-secrets.ts'

const CART = 'spiffe://cluster.local/ns/shop/sa/cart'
const root = issue({ commonName: 'root', isAuthority: true })
const { chain, privateKey, untilMs } = meshCertificate(root, { spiffeId: SPIFFE_ID })
const IDENTITY: MeshIdentity = {
  chain,
  privateKey,
  roots: root.certificate,
  trustDomains: ['cluster.local', 'b.example'],
  untilMs,
}

type Answer = (stream: http2.ServerHttp2Stream, authority: string) => void
const echo: Answer = (stream) => {
  stream.respond({ ':status': 200 })
  stream.pipe(stream)
}

let answer: Answer
let client: HboneClient | undefined
let server: http2.Http2SecureServer | undefined
let sessions: http2.ServerHttp2Session[]
let heads: string[]
let peers: (string | undefined)[]

beforeEach(() => {
  ;[answer, sessions, heads, peers] = [echo, [], [], []]
})
afterEach(() => {
  client?.close()
  client = undefined
  for (const session of sessions) session.destroy()
  server?.close()
  server = undefined
})

interface ServerOptions {
  readonly uri?: string
  readonly issuer?: Issued
  readonly streamsMax?: number
}

async function listen({ uri = CART, issuer = root, streamsMax = 1000 }: ServerOptions = {}): Promise<number> {
  const own = issue({ issuer, uris: [uri], commonName: 'workload' })
  const made = http2.createSecureServer({
    cert: own.certificate,
    key: own.privateKey,
    ca: root.certificate,
    requestCert: true,
    rejectUnauthorized: true,
    settings: { maxConcurrentStreams: streamsMax },
  })
  server = made
  made.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => undefined)
  })
  made.on('secureConnection', (socket) => void peers.push(socket.getPeerX509Certificate()?.subjectAltName))
  made.on('stream', (stream, fields) => {
    stream.on('error', () => undefined)
    const authority = String(fields[':authority'])
    heads.push(authority)
    answer(stream, authority)
  })
  made.listen(0, '127.0.0.1')
  await once(made, 'listening')
  return (made.address() as net.AddressInfo).port // a listening TCP server has one
}

function open(tunnelPort: number, changes: Partial<HboneDestination> = {}, identity = IDENTITY): Promise<DialOutcome> {
  const destination = { host: '127.0.0.1', port: 8080, spiffeId: CART, connectTimeoutMs: 2000, ...changes }
  const used = (client ??= new HboneClient({ tunnelPort }))
  return new Promise((resolve) => void used.open(destination, identity, resolve))
}

async function opened(...args: Parameters<typeof open>): Promise<net.Socket> {
  const outcome = await open(...args)
  if (!('socket' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.socket
}

async function exchange(socket: net.Socket, text: string): Promise<string> {
  socket.end(text)
  let back = ''
  for await (const chunk of socket) back += String(chunk)
  return back
}

describe('HboneClient', () => {
  it('carries bytes both ways, and presents the identity of the proxy', async () => {
    const port = await listen()
    expect(await exchange(await opened(port), 'hello')).toBe('hello')
    expect(heads).toEqual(['127.0.0.1:8080'])
    expect(peers).toEqual([`URI:${SPIFFE_ID}`])
  })

  it('carries 8 MiB with backpressure', async () => {
    const port = await listen()
    const text = 'x'.repeat(8 * 1024 * 1024)
    expect((await exchange(await opened(port), text)).length).toBe(text.length)
  })

  it('shares a connection up to the number of streams of the workload, then opens another', async () => {
    const port = await listen({ streamsMax: 2 })
    const sockets = await Promise.all([opened(port), opened(port), opened(port)])
    expect(sessions).toHaveLength(2)
    expect(client?.openConnections).toBe(2)
    for (const [at, socket] of sockets.entries()) expect(await exchange(socket, `${at}`)).toBe(`${at}`)
    expect(await exchange(await opened(port), 'again')).toBe('again')
    expect(sessions).toHaveLength(2)
  })

  it('uses another connection for another identity of the proxy, and for another workload', async () => {
    const port = await listen()
    await opened(port)
    await opened(port, {}, { ...IDENTITY, trustDomains: ['cluster.local'] })
    await opened(port, { spiffeId: undefined })
    await opened(port, { port: 9090 })
    expect(sessions).toHaveLength(3)
  })

  it('accepts any workload of the trust domains where no identity is required', async () => {
    const port = await listen({ uri: 'spiffe://b.example/ns/a/sa/b' })
    expect(await exchange(await opened(port, { spiffeId: undefined }), 'hi')).toBe('hi')
  })

  it('accepts workloads of every trust domain with *, but no other identity than the expected one', async () => {
    const identity = { ...IDENTITY, trustDomains: ['cluster.local', '*'] }
    const port = await listen({ uri: 'spiffe://c.example/ns/a/sa/b' })
    expect(await exchange(await opened(port, { spiffeId: undefined }, identity), 'hi')).toBe('hi')
    expect(await open(port, {}, identity)).toMatchObject({ code: 'upstreamFailure' })
  })

  it.each<[string, ServerOptions, Partial<HboneDestination>, string]>([
    ['another identity', { uri: 'spiffe://cluster.local/ns/shop/sa/other' }, {}, `instead of ${CART}`],
    ['another trust domain', { uri: 'spiffe://c.example/ns/a/sa/b' }, { spiffeId: undefined }, 'is not accepted'],
    ['no identity', { uri: 'https://a.example' }, { spiffeId: undefined }, 'no SPIFFE id'],
    ['another root', { issuer: issue({ commonName: 'root', isAuthority: true }) }, {}, ''],
  ])('sends nothing to a peer with %s', async (_, options, changes, detail) => {
    const outcome = await open(await listen(options), changes)
    expect(outcome).toMatchObject({ code: 'upstreamFailure' })
    expect(JSON.stringify(outcome)).toContain(detail)
    expect(heads).toEqual([])
  })

  it('names no identity to the client', async () => {
    const outcome = await open(await listen({ uri: 'spiffe://cluster.local/ns/shop/sa/other' }))
    expect(outcome).toMatchObject({ detail: { client: 'the workload has another identity' } })
  })

  it('opens no connection with a certificate that has expired', async () => {
    const port = await listen()
    const outcome = await open(port, {}, { ...IDENTITY, untilMs: Date.now() - 1 })
    expect(outcome).toMatchObject({
      code: 'upstreamFailure',
      detail: { client: 'the certificate of the mesh has expired' },
    })
    expect(sessions).toEqual([])
  })

  it('reports a workload that rejects the tunnel', async () => {
    answer = (stream) => stream.respond({ ':status': 503 }, { endStream: true })
    const outcome = await open(await listen())
    expect(outcome).toMatchObject({ detail: { client: 'the workload answered CONNECT with 503' } })
  })

  it('reports a workload that is not there', async () => {
    const port = await listen()
    server?.close()
    await vi.waitFor(async () => expect(await open(port)).toMatchObject({ code: 'upstreamFailure' }))
  })

  it('ends at its deadline when the workload does not answer, and resets the stream', async () => {
    const closed = Promise.withResolvers<number>()
    const port = await listen()
    await opened(port) // The deadline is not for a handshake.
    answer = (stream) => void stream.once('close', () => closed.resolve(stream.rstCode))
    const outcome = await open(port, { connectTimeoutMs: 1000 })
    expect(outcome).toMatchObject({ code: 'upstreamTimeout' })
    expect(await closed.promise).toBe(http2.constants.NGHTTP2_CANCEL)
  })

  it('resets the stream of a tunnel that is aborted', async () => {
    const closed = Promise.withResolvers<number>()
    const asked = Promise.withResolvers<void>()
    answer = (stream) => {
      asked.resolve()
      stream.once('close', () => closed.resolve(stream.rstCode))
    }
    const done = vi.fn<(outcome: DialOutcome) => void>()
    client = new HboneClient({ tunnelPort: await listen() })
    const destination = { host: '127.0.0.1', port: 1, spiffeId: CART, connectTimeoutMs: 2000 }
    const dial = client.open(destination, IDENTITY, done)
    await asked.promise
    dial.abort()
    expect(await closed.promise).toBe(http2.constants.NGHTTP2_CANCEL)
    expect(done).not.toHaveBeenCalled()
  })

  it('cuts what a lost connection carried, and opens another for the next tunnel', async () => {
    const port = await listen()
    const socket = await opened(port)
    const closed = once(socket, 'close')
    sessions[0]?.destroy()
    await closed
    expect(socket.readableEnded).toBe(false)
    expect(await exchange(await opened(port), 'next')).toBe('next')
  })

  it('leaves a connection after GOAWAY, and its tunnels run on', async () => {
    const port = await listen()
    const socket = await opened(port)
    sessions[0]?.close()
    await vi.waitFor(async () => {
      await opened(port)
      expect(sessions).toHaveLength(2)
    })
    expect(await exchange(socket, 'still')).toBe('still')
  })

  it('closes connections that were idle for five minutes', async () => {
    const port = await listen()
    await exchange(await opened(port), 'once')
    await vi.waitFor(() => expect(client?.openConnections).toBe(1))
    client?.sweep(performance.now() + 299_000)
    expect(client?.openConnections).toBe(1)
    await vi.waitFor(() => {
      client?.sweep(performance.now() + 301_000)
      expect(client?.openConnections).toBe(0)
    })
  })

  it('announces the windows and frames of its limits, and opens another connection above its number of streams', async () => {
    const port = await listen()
    const limits = { ...HBONE_LIMITS, windowBytes: 100_000, connectionWindowBytes: 300_000, frameBytes: 20_000 }
    client = new HboneClient({ tunnelPort: port, limits: { ...limits, streamsMax: 2 } })
    await Promise.all([opened(port), opened(port), opened(port)])
    expect(sessions).toHaveLength(2)
    const [session] = sessions
    expect(session?.remoteSettings).toMatchObject({ initialWindowSize: 100_000, maxFrameSize: 20_000 })
    await vi.waitFor(() => expect(session?.state.remoteWindowSize).toBe(300_000))
  })

  it('closes connections after the idle time of its limits', async () => {
    const port = await listen()
    client = new HboneClient({ tunnelPort: port, limits: { ...HBONE_LIMITS, idleTimeoutMs: 1000 } })
    await exchange(await opened(port), 'once')
    await vi.waitFor(() => {
      client?.sweep(performance.now() + 1001)
      expect(client?.openConnections).toBe(0)
    })
  })

  it.each([true, false])('keepalive probes, enabled: %s', async (enabled) => {
    const probes = vi.spyOn(net.Socket.prototype, 'setKeepAlive')
    const port = await listen()
    client = new HboneClient({ tunnelPort: port, keepalive: { enabled, timeMs: 5000, intervalMs: 6000, retries: 7 } })
    await opened(port)
    expect(probes.mock.calls).toEqual(enabled ? [[true, 5000, 6000, 7]] : [])
    probes.mockRestore()
  })

  it('fails what waits when it is closed', async () => {
    const port = await listen()
    const outcome = open(port)
    client?.close()
    expect(await outcome).toMatchObject({ code: 'upstreamFailure' })
    expect(await open(port)).toMatchObject({ code: 'upstreamFailure' })
  })
})
