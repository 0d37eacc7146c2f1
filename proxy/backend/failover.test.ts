// Backends that fail in every way while other endpoints of the Service live: no retry policy is set.
import net from 'node:net'
import http2 from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { freePort, listeningUntil } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { FAILOVERS_MAX } from './failover.ts'
import {
  reset,
  scriptedUpstream,
  servedBy,
  status,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.testing.ts'

const stops: (() => unknown)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const REQUESTS = 40

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await scriptedUpstream(script)
  stops.push(() => upstream.stop())
  return upstream
}

async function gatewayOf(
  ports: readonly number[],
  change: (config: RenderedConfig) => RenderedConfig = (config) => config,
): Promise<TestProxy> {
  const gateway = await testProxy({
    routes: [{ name: 'r', prefix: '/', backend: { static: { host: '127.0.0.1', port: 1 } } }],
    change: (config) => change(servedBy(...ports)(config)),
  })
  stops.push(() => gateway.stop())
  return gateway
}

/** Statuses and how often each came. */
async function asked({ url }: TestProxy, init: RequestInit = {}): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let i = 0; i < REQUESTS; i++) {
    const response = await fetch(url, init)
    await response.arrayBuffer()
    counts[response.status] = (counts[response.status] ?? 0) + 1
  }
  return counts
}

/** Accepts connections and resets each at once. */
function resettingAtAccept(): Promise<number> {
  return listeningUntil(
    stops,
    net.createServer((socket) => socket.resetAndDestroy()),
  )
}

const POST = { method: 'POST', body: 'order' }

describe('an endpoint that cannot be connected', () => {
  it.each<[string, RequestInit]>([
    ['GET', {}],
    ['POST with a body', POST],
    ['POST with a streamed body', { method: 'POST', body: new Blob(['a'.repeat(100_000)]) }],
  ])('costs no request: %s', async (_name, init) => {
    const good = await upstreamOf(status(200))
    const gateway = await gatewayOf([await freePort(), good.port, await freePort()])
    expect(await asked(gateway, init)).toEqual({ 200: REQUESTS })
    expect(good.seen).toHaveLength(REQUESTS)
    if (typeof init.body === 'string') expect(new Set(good.seen.map(({ body }) => body))).toEqual(new Set([init.body]))
    expect(good.seen.some(({ headers }) => 'x-retry-attempt' in headers)).toBe(false)
  })

  it('is one of several, of which a limited number is tried', async () => {
    const dead = await Promise.all(Array.from({ length: FAILOVERS_MAX + 3 }, () => freePort()))
    const gateway = await gatewayOf(dead)
    expect(await asked(gateway)).toEqual({ 503: REQUESTS })
  })

  it('is the only one: the request fails', { tags: ['full'] }, async () => {
    const gateway = await gatewayOf([await freePort()])
    expect(await asked(gateway)).toEqual({ 503: REQUESTS })
  })
})

describe('an endpoint that resets connections', () => {
  it('at once: no GET fails', async () => {
    const good = await upstreamOf(status(200))
    const gateway = await gatewayOf([await resettingAtAccept(), good.port])
    expect(await asked(gateway)).toEqual({ 200: REQUESTS })
  })

  it('after the request: no GET fails', { tags: ['full'] }, async () => {
    const good = await upstreamOf(status(200))
    const bad = await upstreamOf(reset)
    const gateway = await gatewayOf([bad.port, good.port])
    expect(await asked(gateway)).toEqual({ 200: REQUESTS })
    expect(bad.seen.length).toBeGreaterThan(0)
  })

  it('after the request: a POST is sent once and to no other endpoint', async () => {
    const good = await upstreamOf(status(200))
    const bad = await upstreamOf(reset)
    const gateway = await gatewayOf([bad.port, good.port])
    const counts = await asked(gateway, POST)
    expect(counts[503]).toBe(bad.seen.length)
    expect(good.seen.length + bad.seen.length).toBe(REQUESTS)
  })
})

it('an endpoint that stops while its connections are kept: no GET fails', async () => {
  const good = await upstreamOf(status(200))
  const leaving = await upstreamOf(status(200))
  const gateway = await gatewayOf([good.port, leaving.port])
  expect(await asked(gateway)).toEqual({ 200: REQUESTS })
  expect(leaving.seen.length).toBeGreaterThan(0)
  leaving.stop()
  expect(await asked(gateway)).toEqual({ 200: REQUESTS })
})

it('an HTTP/2 endpoint that cannot be connected: no request fails', async () => {
  const server = http2.createServer((_request, response) => response.end('ok'))
  const good = await listeningUntil(stops, server)
  const overHttp2 = (config: RenderedConfig): RenderedConfig => ({
    ...config,
    services: config.services.map((service) => ({
      ...service,
      ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }],
    })),
  })
  const gateway = await gatewayOf([await freePort(), good, await resettingAtAccept()], overHttp2)
  expect(await asked(gateway)).toEqual({ 200: REQUESTS })
  expect(await asked(gateway, POST)).toEqual({ 200: REQUESTS })
})

it('a TCP connection uses an endpoint that can be connected', async () => {
  const good = await listeningUntil(
    stops,
    net.createServer((socket) => socket.end('hello')),
  )
  const gateway = await gatewayOf([await freePort(), good, await freePort()], asTcp)
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => textFrom(gateway.port)))
  expect(new Set(answers)).toEqual(new Set(['hello']))
})

function asTcp(config: RenderedConfig): RenderedConfig {
  return {
    ...config,
    binds: config.binds.map((bind) => ({ ...bind, protocol: 'TCP' })),
    listeners: config.listeners.map((listener) => ({ ...listener, protocol: 'TCP' })),
    routes: [],
    tcpRoutes: config.routes.map(({ key, name, backends }) => ({
      key,
      listenerKey: 'ns/gw.http',
      name: { ...name, kind: 'TCPRoute' },
      hostnames: [],
      backends: backends.map(({ weight, ref }) => ({ weight, ref })),
    })),
  }
}

function textFrom(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = net.connect(port, '127.0.0.1')
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
