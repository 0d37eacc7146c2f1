// backend.health of backends without an HTTP route: services that policies call, MCP servers, intermediate proxies, and
// backends of connections. Real endpoints, one of them failing; each is selected once.
// @module-tag full
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { BackendReference, Health, Policy, RenderedConfig } from '#api/ir/types.gen.ts'
import { freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestProxyOptions } from '#proxy/main.testing.ts'
import { scriptedUpstream, status, type Script, type ScriptedUpstream } from './scripted-upstream.testing.ts'

const MINUTES: Health = { eviction: { durationMs: 600_000 } }
const ROUNDS = 24
const stops: (() => Promise<void> | void)[] = []
let latest: TestProxy | undefined
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await scriptedUpstream(script)
  stops.push(() => upstream.stop())
  return upstream
}

const SERVICE = { namespace: 'ns', hostname: 'aux.ns.svc' }
const REF: BackendReference = { service: { ...SERVICE, port: 80 } }

/** `health` on a Service with these endpoints, beside a route to `backend`. */
async function gatewayOf(
  ports: readonly number[],
  health: Health | undefined,
  { change = (config) => config, policies = [], ...options }: TestProxyOptions,
): Promise<TestProxy> {
  const own: Policy = {
    key: 'aux',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'aux' },
    target: { service: SERVICE },
    policy: { backend: { ...(health && { health }) } },
  }
  const withService = (config: RenderedConfig): RenderedConfig => ({
    ...config,
    services: [{ name: 'aux', ...SERVICE, ports: [{ port: 80 }] }],
    workloads: ports.map((targetPort) => ({
      uid: `pod-${targetPort}`,
      addresses: ['127.0.0.1'],
      healthy: true,
      services: [{ ...SERVICE, ports: [{ port: 80, targetPort }] }],
    })),
  })
  const gateway = await testProxy({
    ...options,
    policies: health === undefined ? policies : [own, ...policies],
    change: (config) => change(withService(config)),
  })
  stops.unshift(() => gateway.stop())
  latest = gateway
  return gateway
}

async function evictions(): Promise<number> {
  const dump = await (await fetch(`http://127.0.0.1:${latest?.proxy.ports.admin}/config_dump`)).text()
  return dump.match(/"evictedUntil": ?"\d/g)?.length ?? 0
}

async function statuses(url: string, init: RequestInit = {}): Promise<number[]> {
  const answers: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const response = await fetch(url, init)
    await response.text()
    answers.push(response.status)
  }
  return answers
}

const countOf = (answers: readonly number[], code: number): number => answers.filter((one) => one === code).length

describe('a service that a policy asks', () => {
  async function guarded(health: Health | undefined, bad: number, grpc = false): Promise<number[]> {
    const backend = await upstreamOf(status(200))
    const good = await upstreamOf(status(200))
    const way = grpc ? { grpc: {} } : { http: {} }
    const gateway = await gatewayOf(grpc ? [bad] : [good.port, bad], health, {
      routes: [
        {
          name: 'r',
          prefix: '/',
          backend: { static: { host: '127.0.0.1', port: backend.port } },
          inline: { extAuth: { service: REF, failureMode: 'FailClosed', ...way } },
        },
      ],
    })
    return statuses(gateway.url)
  }

  it('evicts an endpoint after its first 5xx', async () => {
    const bad = await upstreamOf(status(500))
    const answers = await guarded(MINUTES, bad.port)
    expect([bad.seen.length, countOf(answers, 500), countOf(answers, 200)]).toEqual([1, 1, ROUNDS - 1])
  })

  it('does not evict without a policy', { tags: ['full'] }, async () => {
    const bad = await upstreamOf(status(500))
    await guarded(undefined, bad.port)
    expect(bad.seen.length).toBeGreaterThan(1)
  })

  it('evicts an endpoint that cannot be reached', async () => {
    const answers = await guarded(MINUTES, await freePort())
    // The call that meets it moves on, and it is evicted.
    expect(countOf(answers, 200)).toBe(ROUNDS)
    expect(await evictions()).toBe(1)
  })

  it('uses the condition, which reads the call to the service', { tags: ['full'] }, async () => {
    const bad = await upstreamOf(status(403, { 'x-mood': 'bad' }))
    const unhealthyCondition = 'response.headers["x-mood"] == "bad" && request.headers["authorization"] == "t"'
    const backend = await upstreamOf(status(200))
    const good = await upstreamOf(status(200))
    const gateway = await gatewayOf(
      [good.port, bad.port],
      { ...MINUTES, unhealthyCondition },
      {
        routes: [
          {
            name: 'r',
            prefix: '/',
            backend: { static: { host: '127.0.0.1', port: backend.port } },
            inline: { extAuth: { service: REF, failureMode: 'FailClosed', http: {} } },
          },
        ],
      },
    )
    const answers = await statuses(gateway.url, { headers: { authorization: 't' } })
    expect([bad.seen.length, countOf(answers, 403)]).toEqual([1, 1])
  })

  it('a rejection is a response: it does not count against the endpoint', async () => {
    const refusing = await upstreamOf(status(403))
    await guarded(MINUTES, refusing.port)
    expect(refusing.seen.length).toBeGreaterThan(1)
  })
})

describe('an MCP server', () => {
  it('evicts an endpoint after its first 5xx', async () => {
    const good = await upstreamOf((response, { body }) => {
      const { id = null } = JSON.parse(body === '' ? '{}' : body) as { id?: number | null } // as the gateway sends it
      const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const bad = await upstreamOf(status(500))
    const mcp = { sessionRouting: 'Stateless', prefixMode: 'Conditional', failureMode: 'FailClosed' } as const
    const gateway = await gatewayOf([good.port, bad.port], MINUTES, {
      routes: [{ name: 'r', prefix: '/', backend: { mcp: { ...mcp, targets: [{ name: 'a', ref: REF }] } } }],
    })
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    await statuses(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
    expect(bad.seen.length).toBe(1)
    expect(good.seen.length).toBeGreaterThan(ROUNDS / 2)
  })
})

describe('connections', () => {
  it('lose an endpoint that cannot be reached: TCPRoute', async () => {
    const greeter = net.createServer((socket) => socket.end('hello'))
    const good = await listening(greeter)
    stops.push(() => void greeter.close())
    const gateway = await gatewayOf([good, await freePort()], MINUTES, {
      routes: [],
      change: (config) => ({
        ...config,
        binds: config.binds.map((bind) => ({ ...bind, protocol: 'TCP' })),
        listeners: config.listeners.map((listener) => ({ ...listener, protocol: 'TCP' })),
        tcpRoutes: [
          {
            key: 'ns/t.00.http',
            listenerKey: 'ns/gw.http',
            kind: 'TCPRoute',
            name: { namespace: 'ns', name: 't' },
            hostnames: [],
            backends: [{ weight: 1, ref: REF }],
          },
        ],
      }),
    })
    const texts: string[] = []
    for (let i = 0; i < ROUNDS; i++) texts.push(await greetingOf(gateway.port))
    // The connection that meets it moves on, and it is evicted.
    expect(texts.filter((text) => text === 'hello')).toHaveLength(ROUNDS)
    expect(await evictions()).toBe(1)
  })

  it('to a proxy on the way, too', async () => {
    // Kept connections would hide the choice.
    const backend = await upstreamOf(status(200, { connection: 'close' }))
    const proxy = http.createServer()
    proxy.on('connect', (_request, client: net.Socket) => {
      const upstream = net.connect({ host: '127.0.0.1', port: backend.port }, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      for (const socket of [client, upstream]) socket.on('error', () => client.destroy())
      stops.push(() => void client.destroy())
    })
    const good = await listening(proxy)
    stops.push(() => void proxy.close())
    const gateway = await gatewayOf([good, await freePort()], MINUTES, {
      routes: [
        {
          name: 'r',
          prefix: '/',
          backend: { static: { host: '127.0.0.1', port: 9 } },
          backendInline: { tunnel: { proxy: REF } },
        },
      ],
    })
    // The connection that meets it moves on, and it is evicted.
    expect(countOf(await statuses(gateway.url), 200)).toBe(ROUNDS)
    expect(await evictions()).toBe(1)
  })
})

function greetingOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}
