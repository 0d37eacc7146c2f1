// Names that lead elsewhere while connections are open, and names of which one address is a black hole.
// @module-tag full
import { create } from '@bufbuild/protobuf'
import http2 from 'node:http2'
import net from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { Authorization, CheckRequestSchema } from '../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { portOf, type ProxyOptions, startProxy, targetOf, until } from '../http/server.testing.ts'
import { dialDirect, type DialOutcome } from './dial.ts'
import { DnsCache } from './dns-cache.ts'

const FIRST = '127.0.0.1'
const SECOND = '127.0.0.2'
const TTL_MS = 5000

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

/** Both on one port: they differ in the address alone. */
async function startTwo(make: (name: string) => net.Server): Promise<{ port: number; servers: readonly net.Server[] }> {
  const first = make('first').listen(0, FIRST)
  await once(first, 'listening')
  const second = make('second').listen(portOf(first), SECOND)
  await once(second, 'listening')
  return { port: portOf(first), servers: [first, second] }
}

const sockets = new Set<net.Socket>()
const tracked = <T extends net.Server>(server: T): T => {
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  open.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return server
}

const overHttp1 = (name: string): net.Server =>
  tracked(
    net.createServer((socket) => {
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`))
    }),
  )

const overHttp2 = (name: string): net.Server => {
  const server = http2.createServer({}, (_request, response) => response.end(name))
  server.on('sessionError', () => undefined)
  return tracked(server)
}

/** Takes connections and says nothing: no SETTINGS, no answer. */
const silent = (): net.Server => tracked(net.createServer(() => undefined))

/** A name, where it leads, and the clock of its time to live. */
function nameServer(addresses: readonly string[]): {
  dns: DnsCache
  answer: { addresses: readonly string[] | undefined; asked: number }
  clock: { nowMs: number }
} {
  const answer: { addresses: readonly string[] | undefined; asked: number } = { addresses, asked: 0 }
  const clock = { nowMs: 0 }
  const dns = new DnsCache(
    (_host, done) => {
      answer.asked++
      if (answer.addresses === undefined) done(new Error('ESERVFAIL'), [])
      else done(undefined, answer.addresses, TTL_MS)
    },
    () => clock.nowMs,
  )
  return { dns, answer, clock }
}

const versions = [
  ['HTTP/1.1', overHttp1, {}],
  ['HTTP/2', overHttp2, { httpVersion: 'HTTP2' }],
] as const

describe.each(versions)('a name that leads elsewhere, %s', (_version, make, target) => {
  async function start(): Promise<
    ReturnType<typeof nameServer> & { ask: () => Promise<string>; connections: () => number }
  > {
    const { port } = await startTwo(make)
    const names = nameServer([FIRST])
    const proxy = await startProxy(port, { target: { ...target, host: 'moving.test' }, client: { dns: names.dns } })
    open.push(proxy)
    return { ...names, ask: () => ask(proxy), connections: () => proxy.client.openConnections }
  }

  it('idle connections to the old address go, calls go to the new one', async () => {
    const { answer, clock, ask: next, connections } = await start()
    expect([await next(), await next()]).toEqual(['first', 'first'])
    answer.addresses = [SECOND]
    clock.nowMs += TTL_MS
    await until(() => connections() === 0)
    expect(await next()).toBe('second')
  })

  it('the same answer again, and none at all, keep them', async () => {
    const { answer, clock, ask: next, connections } = await start()
    expect(await next()).toBe('first')
    clock.nowMs += TTL_MS
    await until(() => answer.asked === 2)
    answer.addresses = undefined
    clock.nowMs += TTL_MS
    await until(() => answer.asked === 3)
    expect([await next(), connections()]).toEqual(['first', 1])
  })
})

describe('a name that leads elsewhere', () => {
  it('a call that runs ends where it is, and its connection is not kept', async () => {
    const held: net.Socket[] = []
    const holding = (name: string): net.Server =>
      tracked(
        net.createServer((socket) => socket.on('data', () => (name === 'first' ? held.push(socket) : socket.end()))),
      )
    const { port } = await startTwo(holding)
    const { dns, answer, clock } = nameServer([FIRST])
    const proxy = await startProxy(port, { target: { host: 'moving.test' }, client: { dns } })
    open.push(proxy)
    const answered = ask(proxy)
    await until(() => held.length === 1)
    answer.addresses = [SECOND]
    clock.nowMs += TTL_MS
    await until(() => answer.asked === 2)
    held[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    expect(await answered).toBe('ok')
    await until(() => proxy.client.openConnections === 0)
  })

  it('sessions of gRPC to it go', async () => {
    const { port } = await startTwo(overHttp2)
    const { dns, answer, clock } = nameServer([FIRST])
    const client = createGrpcClient({ dns })
    open.push(client)
    const request = create(CheckRequestSchema)
    const options = { authority: 'moving.test', deadlineMs: performance.now() + 5000, signal: undefined }
    const call = client.unary(targetOf(port, { host: 'moving.test' }), Authorization.method.check, request, options)
    await expect(call).rejects.toThrow(/status|grpc|http/i)
    expect(client.openSessions).toBe(1)
    answer.addresses = [SECOND]
    clock.nowMs += TTL_MS
    await until(() => client.openSessions === 0)
  })
})

describe('one address of several is a black hole', () => {
  const hole =
    (name: string): ((kind: (name: string) => net.Server) => net.Server) =>
    (kind) =>
      name === 'first' ? silent() : kind(name)

  it('HTTP/2: the next one is tried in time, and it comes last from then on', async () => {
    const { port } = await startTwo((name) => hole(name)(overHttp2))
    const { dns } = nameServer([FIRST, SECOND])
    const options: ProxyOptions = {
      target: { host: 'half.test', httpVersion: 'HTTP2', connectTimeoutMs: 1000 },
      client: { dns },
    }
    const proxy = await startProxy(port, options)
    open.push(proxy)
    expect(await ask(proxy)).toBe('second')
    for (let i = 0; i < 3; i++) expect(firstOf(dns, 'half.test')).toBe(SECOND)
  })

  it('HTTP/1.1: likewise', async () => {
    // Connections in a full backlog are not accepted, so a handshake stands for it.
    const { port } = await startTwo((name) => hole(name)(overHttp1))
    const { dns } = nameServer([FIRST, SECOND])
    const skipping = {
      servername: undefined,
      caCertificates: undefined,
      insecureSkipVerify: 'All',
      alpnProtocols: undefined,
    } as const
    const options: ProxyOptions = {
      target: { host: 'half.test', tls: skipping, connectTimeoutMs: 1000 },
      client: { dns },
    }
    const proxy = await startProxy(port, options)
    open.push(proxy)
    // The second one speaks no TLS: that it is asked at all is what counts.
    expect(await ask(proxy)).toContain('TLS')
  })

  it('bytes that are passed on: likewise', async () => {
    const { port } = await startTwo((name) => hole(name)(overHttp1))
    const { dns } = nameServer([FIRST, SECOND])
    const skipping = {
      servername: undefined,
      caCertificates: undefined,
      insecureSkipVerify: 'All',
      alpnProtocols: undefined,
    } as const
    const target = targetOf(port, { host: 'half.test', tls: skipping, connectTimeoutMs: 1000 })
    const outcome = await new Promise<DialOutcome>((done) => dialDirect(target, dns, done))
    expect(outcome).toMatchObject({ code: 'upstreamFailure', detail: { client: 'the peer does not speak TLS' } })
  })
})

describe('the connect timeout', () => {
  it('covers the name', async () => {
    const dns = new DnsCache(() => undefined)
    const proxy = await startProxy(1, { target: { host: 'silent.test', connectTimeoutMs: 50 }, client: { dns } })
    open.push(proxy)
    expect(await ask(proxy)).toBe('upstream call timeout')
    expect(proxy.finished[0]?.exchange.errorDetail).toContain('no name server answered')
  })
})

describe('an address that fails', () => {
  it('comes last for 30 s, or until the name has lost it', () => {
    const { dns, answer, clock } = nameServer([FIRST, SECOND])
    expect([firstOf(dns), firstOf(dns)]).toEqual([FIRST, SECOND])
    dns.failed('moving.test', FIRST)
    dns.failed('moving.test', '192.0.2.9')
    expect([firstOf(dns), firstOf(dns), firstOf(dns)]).toEqual([SECOND, SECOND, SECOND])
    clock.nowMs = 29_999
    expect([firstOf(dns), firstOf(dns)]).toEqual([SECOND, SECOND])
    clock.nowMs = 30_000
    expect(new Set([firstOf(dns), firstOf(dns)])).toEqual(new Set([FIRST, SECOND]))
    dns.failed('moving.test', FIRST)
    dns.failed('moving.test', SECOND)
    expect(new Set([firstOf(dns), firstOf(dns)])).toEqual(new Set([FIRST, SECOND]))
    answer.addresses = [SECOND]
    clock.nowMs += TTL_MS
    expect([firstOf(dns), firstOf(dns)]).toEqual([SECOND, SECOND])
  })
})

function firstOf(dns: DnsCache, host = 'moving.test'): string | undefined {
  let found: string | undefined
  dns.resolve(host, ([first]) => {
    found = first
  })
  return found
}

async function ask(proxy: Awaited<ReturnType<typeof startProxy>>): Promise<string> {
  const client = await proxy.connect()
  client.send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await until(() => client.socket.readableEnded || client.socket.destroyed)
  return client.text.slice(client.text.indexOf('\r\n\r\n') + 4).replaceAll(/^\d+\r\n|\r\n0\r\n\r\n$/g, '')
}
