// Backends that never answer, through a `gw run`: the client gets a status within the deadline, and the backend is used
// again after it recovers. Backends on unix sockets, and changes of their files.
// @module-tag full
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import { authority, certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { until } from '../cli/gw.ts'
import { fullBacklog } from './suite/full-backlog.ts'
import { forwarding } from './suite/manifests.ts'
import { startSampleProxy, type SampleProxy } from './suite/process.ts'

type Policies = NonNullable<GwBackend['spec']['policies']>

const ca = authority()
const pair = certificateFor({ commonName: 'a.test', names: ['DNS:a.test'], issuer: ca })
const tls: Policies['tls'] = { sni: 'a.test', caCertificateRefs: [{ name: 'ca' }] }
const HTTP2: Policies['http'] = { version: 'HTTP2' }
const DEADLINE = '300ms'
/** Shorter than the default connect timeout of the proxy. */
const PATIENCE_MS = 8000
const CONNECT: Policies = { tcp: { connectTimeout: DEADLINE } }
const ANSWER: Policies['http'] = { requestTimeout: DEADLINE }

const folder = mkdtempSync(join(tmpdir(), 'gw-holes-'))
const socketPath = join(folder, 'backend.sock')
let gateway: SampleProxy
let port: number
const open: (() => unknown)[] = []

beforeAll(async () => {
  gateway = await startSampleProxy()
})
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

async function use(place: NonNullable<GwBackend['spec']['static']>, policies: Policies): Promise<void> {
  port = await freePort()
  const one = { static: place, ...(Object.keys(policies).length > 0 && { policies }) }
  await gateway.serve(forwarding({ port, backends: { one }, authorities: { ca: ca.certificate } }), port)
}

async function ask(): Promise<readonly [status: number, body: string]> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const answer = await fetch(`http://127.0.0.1:${port}/one`, { headers: { connection: 'close' }, signal })
  return [answer.status, await answer.text()]
}

interface ListenAddress {
  readonly port?: number
  readonly path?: string
}

/** Closes `server` and all its connections. */
async function listen(server: net.Server, place: ListenAddress): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(place.path === undefined ? { port: place.port ?? 0, host: '127.0.0.1' } : place)
  await once(server, 'listening')
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  closers.set(server, close)
  open.push(close)
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
const closers = new WeakMap<net.Server, () => Promise<void>>()
const close = (server: net.Server): Promise<void> => closers.get(server)?.() ?? Promise.resolve()

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])

/** Accepts connections, sends `greeting` and nothing else. */
function silent(greeting = Buffer.alloc(0)): net.Server {
  return net.createServer((socket) => {
    socket.resume()
    if (greeting.length > 0) socket.write(greeting)
  })
}

const SERVERS = {
  http1: () => http.createServer((_request, response) => response.end('ok')),
  http2: () => http2.createServer((_request, response) => response.end('ok')),
  tls: () => https.createServer(options, (_request, response) => response.end('ok')),
  'http2 over tls': () => http2.createSecureServer(options, (_request, response) => response.end('ok')),
} as const
const options = { cert: pair.certificate, key: pair.privateKey }

type Kind = keyof typeof SERVERS

const POLICIES: Readonly<Record<Kind, Policies>> = {
  http1: {},
  http2: { http: HTTP2 },
  tls: { tls },
  'http2 over tls': { tls, http: HTTP2 },
}
const KINDS = ['http1', 'http2', 'tls', 'http2 over tls'] as const

describe('a backend that', { tags: ['full'] }, () => {
  it.each(KINDS)('drops SYNs: 504, %s', async (kind) => {
    const hole = await fullBacklog()
    open.push(() => hole.stop())
    await use({ host: '127.0.0.1', port: hole.port }, { ...POLICIES[kind], ...CONNECT })
    expect(await ask()).toEqual([504, 'upstream call timeout'])
  })

  it.each([
    ['answers no request', 'http1', { http: ANSWER }, Buffer.alloc(0)],
    ['answers no TLS handshake', 'tls', CONNECT, Buffer.alloc(0)],
    ['answers no TLS handshake', 'http2 over tls', CONNECT, Buffer.alloc(0)],
    ['sends no SETTINGS', 'http2', CONNECT, Buffer.alloc(0)],
    ['acknowledges no SETTINGS', 'http2', { http: { ...HTTP2, ...ANSWER } }, SETTINGS],
  ] as const)(
    '%s: 504, and is used again after it recovers, %s',
    { timeout: 20_000 },
    async (_what, kind, policies, greeting) => {
      const hole = silent(greeting)
      const at = await listen(hole, {})
      await use({ host: '127.0.0.1', port: at }, { ...POLICIES[kind], ...policies })
      expect(await ask()).toEqual([504, 'upstream call timeout'])
      await close(hole)
      await listen(SERVERS[kind](), { port: at })
      await until('the backend is used again', async () => (await ask())[1] === 'ok')
    },
  )

  it.each(KINDS)('does not listen: 503, and is used when it listens, %s', async (kind) => {
    const at = await freePort()
    await use({ host: '127.0.0.1', port: at }, POLICIES[kind])
    expect(await ask()).toEqual([503, 'upstream call failed: connection refused'])
    await listen(SERVERS[kind](), { port: at })
    expect(await ask()).toEqual([200, 'ok'])
  })

  it(
    'stops to answer on an HTTP/2 connection: 504, a PING ends the connection, new requests use a new one',
    { timeout: 20_000 },
    async () => {
      const backend = SERVERS.http2()
      const at = await listen(backend, {})
      // A relay that can stop without a signal to either end.
      let isCut = false
      const wires: net.Socket[] = []
      const wire = net.createServer((socket) => {
        const peer = net.connect(at, '127.0.0.1')
        peer.on('error', () => {})
        wires.push(socket)
        const mine = wires.length
        const passes = (): boolean => !isCut || mine > 1
        socket.on('data', (chunk: Buffer) => passes() && peer.write(chunk))
        peer.on('data', (chunk: Buffer) => passes() && socket.write(chunk))
        socket.on('close', () => peer.destroy())
      })
      await use({ host: '127.0.0.1', port: await listen(wire, {}) }, { http: { ...HTTP2, ...ANSWER } })
      expect(await ask()).toEqual([200, 'ok'])
      expect(await ask()).toEqual([200, 'ok'])
      expect(wires.length).toBe(1)
      isCut = true
      expect(await ask()).toEqual([504, 'upstream call timeout'])
      await until('a new connection', async () => (await ask())[1] === 'ok')
      expect(wires.length).toBe(2)
      await until('the end of the dead one', () => wires[0]?.destroyed === true)
    },
  )
})

describe('a backend on a unix socket', () => {
  it.each(KINDS)('is used; without its file: 503; with another: used again, %s', async (kind) => {
    await use({ unixPath: socketPath }, POLICIES[kind])
    expect(await ask()).toEqual([503, 'upstream call failed: no such socket'])
    const first = SERVERS[kind]()
    await listen(first, { path: socketPath })
    expect(await ask()).toEqual([200, 'ok'])
    // node removes the file with the server.
    await close(first)
    expect(await ask()).toEqual([503, 'upstream call failed: no such socket'])
    const second = SERVERS[kind]()
    await listen(second, { path: socketPath })
    expect(await ask()).toEqual([200, 'ok'])
    expect(await ask()).toEqual([200, 'ok'])
  })

  it('whose file is replaced while the old server runs: the next connection goes to the new one', async () => {
    const answers = (text: string): http.Server =>
      http.createServer((_request, response) => {
        response.setHeader('connection', 'close')
        response.end(text)
      })
    await use({ unixPath: socketPath }, {})
    await listen(answers('old'), { path: socketPath })
    expect(await ask()).toEqual([200, 'old'])
    rmSync(socketPath)
    await listen(answers('new'), { path: socketPath })
    expect(await ask()).toEqual([200, 'new'])
  })

  it('that does not answer: 504', async () => {
    await listen(silent(), { path: socketPath })
    await use({ unixPath: socketPath }, { http: ANSWER })
    expect(await ask()).toEqual([504, 'upstream call timeout'])
    await use({ unixPath: socketPath }, { http: HTTP2, ...CONNECT })
    expect(await ask()).toEqual([504, 'upstream call timeout'])
    await use({ unixPath: socketPath }, { tls, ...CONNECT })
    expect(await ask()).toEqual([504, 'upstream call timeout'])
  })
})
