// An intermediate proxy with dead endpoints and a live one: no connection through it fails, without a retry policy.
// @module-tag full
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { create } from '@bufbuild/protobuf'
import { afterEach, describe, expect, it } from 'vitest'
import type { BackendPayload, BackendReference, Policy, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { certificateFor } from '#test/certificates.ts'
import { freePort, listeningUntil } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '../main.testing.ts'
import { Authorization, CheckResponseSchema } from '../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { grpcServer, unaryMethod } from '../grpc/server.testing.ts'
import { dial } from '../upstream/dial-tunnel.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import type { TunnelProxy } from '../upstream/target.ts'
import { FAILOVERS_MAX } from './failover.ts'
import { scriptedUpstream, status } from './scripted-upstream.testing.ts'

const CALLS = 30
const PROXY = { namespace: 'ns', hostname: 'egress.ns.svc' }
const APP = { namespace: 'ns', hostname: 'app.ns.svc' }
const TUNNEL: BackendPayload = { tunnel: { proxy: { service: { ...PROXY, port: 80 } } } }
const APP_REF: BackendReference = { service: { ...APP, port: 80 } }
/** No server listens there: every request arrives through the proxy. */
const NOWHERE = { static: { host: '127.0.0.1', port: 9 } }

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

interface Egress {
  readonly port: number
  /** CONNECT or absolute URI, each with the number of times. */
  readonly asked: { connect: number; forwarded: number }
}

/** Accepts CONNECT and absolute URIs, and connects to `to` for any target. */
async function egress(to: number): Promise<Egress> {
  const asked = { connect: 0, forwarded: 0 }
  const server = http.createServer((_request, response) => {
    asked.forwarded++
    // Kept connections would hide the selection.
    response.writeHead(200, { connection: 'close' }).end('forwarded')
  })
  server.on('connect', (_request, client: net.Socket) => {
    asked.connect++
    const upstream = net.connect({ host: '127.0.0.1', port: to }, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    for (const socket of [client, upstream]) {
      socket.on('error', () => client.destroy())
      socket.on('close', () => [client, upstream].forEach((one) => one.destroy()))
    }
  })
  return { port: await listeningUntil(stops, server), asked }
}

interface Mute {
  readonly port: number
  readonly seen: () => number
}

/** Reads CONNECT and closes the connection without an answer. */
async function mute(): Promise<Mute> {
  let seen = 0
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      seen++
      socket.destroy()
    })
  })
  return { port: await listeningUntil(stops, server), seen: () => seen }
}

interface Way {
  readonly proxies: readonly number[]
  readonly routes?: readonly TestRoute[]
  readonly policies?: readonly Policy[]
  readonly change?: (config: RenderedConfig) => RenderedConfig
  readonly appProtocol?: string
}

function policy(name: string, service: typeof APP, backend: BackendPayload): Policy {
  return {
    key: name,
    name: { kind: 'GwPolicy', namespace: 'ns', name },
    target: { service },
    policy: { backend },
  }
}

async function gatewayOf(way: Way): Promise<TestProxy> {
  const { proxies, policies = [], change = (config) => config, appProtocol } = way
  const workload = (service: typeof APP, targetPort: number) => ({
    uid: `pod-${service.hostname}-${targetPort}`,
    addresses: ['127.0.0.1'],
    healthy: true,
    services: [{ ...service, ports: [{ port: 80, targetPort }] }],
  })
  const gateway = await testProxy({
    routes: way.routes ?? [{ name: 'r', prefix: '/', backend: NOWHERE, backendInline: TUNNEL }],
    policies,
    change: (config) =>
      change({
        ...config,
        services: [
          { name: 'egress', ...PROXY, ports: [{ port: 80 }] },
          { name: 'app', ...APP, ports: [{ port: 80, ...(appProtocol && { appProtocol }) }] },
        ],
        workloads: [...proxies.map((port) => workload(PROXY, port)), workload(APP, 9)],
      }),
  })
  stops.push(() => gateway.stop())
  return gateway
}

/** How often each status came. */
async function asked({ url }: TestProxy): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let i = 0; i < CALLS; i++) {
    const response = await fetch(url)
    await response.arrayBuffer()
    counts[response.status] = (counts[response.status] ?? 0) + 1
  }
  return counts
}

async function evictions({ proxy }: TestProxy): Promise<number> {
  const dump = await (await fetch(`http://127.0.0.1:${proxy.ports.admin}/config_dump`)).text()
  return dump.match(/"evictedUntil": ?"\d/g)?.length ?? 0
}

async function appOf(): Promise<number> {
  const app = await scriptedUpstream(status(200, { connection: 'close' }))
  stops.push(() => app.stop())
  return app.port
}

describe('through a proxy with a dead endpoint no call fails:', () => {
  it('HTTP/1.1 by CONNECT; those that fail are evicted, each once', async () => {
    const good = await egress(await appOf())
    const bad = await mute()
    const gateway = await gatewayOf({
      proxies: [await freePort(), good.port, bad.port],
      policies: [policy('egress', PROXY, { health: { eviction: { durationMs: 600_000 } } })],
    })
    expect(await asked(gateway)).toEqual({ 200: CALLS })
    expect(good.asked).toEqual({ connect: CALLS, forwarded: 0 })
    expect([bad.seen(), await evictions(gateway)]).toEqual([1, 2])
  })

  it('HTTP/1.1 by absolute URI', { tags: ['full'] }, async () => {
    const good = await egress(9)
    const backend = { static: { host: 'app.test', port: 80 } }
    const gateway = await gatewayOf({
      proxies: [await freePort(), good.port, await freePort()],
      routes: [{ name: 'r', prefix: '/', backend, backendInline: TUNNEL }],
    })
    expect(await asked(gateway)).toEqual({ 200: CALLS })
    expect(good.asked).toEqual({ connect: 0, forwarded: CALLS })
  })

  it('HTTP/2', async () => {
    const server = http2.createServer((_request, response) => response.end('ok'))
    // The next call opens a connection of its own.
    server.on('session', (session) => session.on('stream', (stream) => stream.on('close', () => session.close())))
    const good = await egress(await listeningUntil(stops, server))
    const backendInline: BackendPayload = { ...TUNNEL, http: { version: 'HTTP2' } }
    const gateway = await gatewayOf({
      proxies: [await freePort(), good.port, (await mute()).port],
      routes: [{ name: 'r', prefix: '/', backend: NOWHERE, backendInline }],
    })
    expect(await asked(gateway)).toEqual({ 200: CALLS })
    expect(good.asked.connect).toBeGreaterThan(1)
  })

  it('TCP', async () => {
    const server = net.createServer((socket) => socket.end('hello'))
    const good = await egress(await listeningUntil(stops, server))
    const gateway = await gatewayOf({
      proxies: [await freePort(), good.port, (await mute()).port],
      policies: [policy('app', APP, TUNNEL)],
      change: (config) => ({
        ...config,
        binds: config.binds.map((bind) => ({ ...bind, protocol: 'TCP' })),
        listeners: config.listeners.map((listener) => ({ ...listener, protocol: 'TCP' })),
        routes: [],
        tcpRoutes: [
          {
            key: 'ns/t.00.http',
            listenerKey: 'ns/gw.http',
            kind: 'TCPRoute',
            name: { namespace: 'ns', name: 't' },
            hostnames: [],
            backends: [{ weight: 1, ref: APP_REF }],
          },
        ],
      }),
    })
    for (let i = 0; i < CALLS; i++) {
      const socket = net.connect(gateway.port, '127.0.0.1')
      const [bytes] = (await once(socket, 'data')) as [Buffer]
      expect(bytes.toString()).toBe('hello')
      socket.destroy()
    }
  })

  describe('services that policies ask,', () => {
    async function statuses(to: number, inline: TrafficPayload, appProtocol?: string): Promise<unknown> {
      const good = await egress(to)
      const backend = { static: { host: '127.0.0.1', port: await appOf() } }
      const gateway = await gatewayOf({
        proxies: [await freePort(), good.port, (await mute()).port],
        policies: [policy('app', APP, TUNNEL)],
        routes: [{ name: 'r', prefix: '/', backend, inline }],
        ...(appProtocol && { appProtocol }),
      })
      const counts = await asked(gateway)
      expect(good.asked.connect + good.asked.forwarded).toBeGreaterThan(0)
      return counts
    }

    it('over HTTP', async () => {
      const inline: TrafficPayload = { extAuth: { service: APP_REF, failureMode: 'FailClosed', http: {} } }
      expect(await statuses(await appOf(), inline)).toEqual({ 200: CALLS })
    })

    it('over gRPC', { tags: ['full'] }, async () => {
      const live = await grpcServer([
        unaryMethod(Authorization.method.check, (_call, reply) =>
          reply(null, create(CheckResponseSchema, { status: { code: 0 } })),
        ),
      ])
      stops.push(() => live.kill())
      const inline: TrafficPayload = { extAuth: { service: APP_REF, failureMode: 'FailClosed', grpc: {} } }
      expect(await statuses(live.port, inline, 'kubernetes.io/h2c')).toEqual({ 200: CALLS })
    })
  })
})

describe('a proxy all of whose endpoints fail', () => {
  it('is tried a limited number of times for a connection', async () => {
    const proxies = await Promise.all(Array.from({ length: FAILOVERS_MAX + 3 }, () => mute()))
    const gateway = await gatewayOf({ proxies: proxies.map(({ port }) => port) })
    expect((await fetch(gateway.url)).status).toBe(503)
    expect(proxies.reduce((sum, { seen }) => sum + seen(), 0)).toBe(FAILOVERS_MAX + 1)
  })
})

describe('an endpoint of a proxy', () => {
  const target = { host: 'app.test', unixPath: undefined, tls: undefined, connectTimeoutMs: 1000 }

  /** In this order. */
  function proxyOf(ends: (boolean | undefined)[], ...[first, ...others]: TunnelProxy['target'][]): TunnelProxy {
    if (first === undefined) throw new Error('no endpoint')
    return {
      target: first,
      other: () => (others.length === 0 ? undefined : proxyOf(ends, ...others)),
      begin() {},
      end: (_latencyMs, isHealthy) => void ends.push(isHealthy),
    }
  }

  async function outcome(...targets: TunnelProxy['target'][]): Promise<unknown> {
    const ends: (boolean | undefined)[] = []
    const way = { pick: () => proxyOf(ends, ...targets), headers: [] }
    const { promise, resolve } = Promise.withResolvers<unknown>()
    dial({ ...target, key: 'a', port: 80, tunnel: { key: 'k', way } }, new DnsCache(), (result) => {
      if ('socket' in result) result.socket.destroy()
      resolve('socket' in result ? 'connected' : result.code)
    })
    return [await promise, ends]
  }

  const at = (port: number) => ({ ...target, key: String(port), host: '127.0.0.1', port, connectTimeoutMs: 10_000 })
  const pair = certificateFor({ commonName: 'p', names: ['DNS:p.test'] })
  /** Never answers the handshake. */
  const silent = async () => {
    const port = await listeningUntil(
      stops,
      net.createServer((socket) => socket.on('error', () => {}).resume()),
    )
    const tls = { servername: 'p.test', caCertificates: pair.certificate, insecureSkipVerify: undefined }
    return { ...at(port), tls: { ...tls, alpnProtocols: undefined } }
  }

  it('that does not finish connecting leaves time for another', async () => {
    const good = at((await egress(await appOf())).port)
    expect(await outcome(await silent(), good)).toEqual(['connected', [false, true]])
  })

  it('that is the only one has the whole connect timeout', { tags: ['full'] }, async () => {
    expect(await outcome(await silent())).toEqual(['upstreamTimeout', [false]])
  })

  it('that returns a status is not replaced', async () => {
    const refusing = http.createServer()
    refusing.on('connect', (_request, socket: net.Socket) => socket.end('HTTP/1.1 503 No\r\n\r\n'))
    const good = await egress(await appOf())
    const port = await listeningUntil(stops, refusing)
    expect(await outcome(at(port), at(good.port))).toEqual(['upstreamFailure', [false]])
    expect(good.asked.connect).toBe(0)
  })
})
