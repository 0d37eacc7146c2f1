// A Service with a dead and a live endpoint, called by every kind of caller: no retry policy is set, and no call fails.
// @module-tag full
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { create } from '@bufbuild/protobuf'
import { afterEach, describe, expect, it } from 'vitest'
import type { BackendReference, Policy, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { freePort, listeningUntil } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestProxyOptions } from '#proxy/main.testing.ts'
import { Authorization, CheckResponseSchema } from '../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { RateLimitResponseSchema, RateLimitService } from '../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { grpcServer, plainTarget, unaryMethod } from '../grpc/server.testing.ts'
import { GrpcError, GrpcStatus, GrpcUnreached } from '../grpc/status.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { passing, startProcessor } from '../policy/external/ext-proc/processor.testing.ts'
import { UpstreamError } from '../upstream/target.ts'
import { localState } from './endpoint-store.ts'
import { FAILOVERS_MAX, OwnCallEndpoints } from './failover.ts'
import { scriptedUpstream, status, type Script, type ScriptedUpstream } from './scripted-upstream.testing.ts'
import { firstOf } from '#test/run/table.ts'

const CALLS = 40
const SERVICE = { namespace: 'ns', hostname: 'aux.ns.svc' }
const REF: BackendReference = { service: { ...SERVICE, port: 80 } }

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await scriptedUpstream(script)
  stops.push(() => upstream.stop())
  return upstream
}

/** Beside the live endpoint the Service has two that are dead. */
async function gatewayOf(
  live: number,
  { change = (config) => config, ...options }: TestProxyOptions,
): Promise<TestProxy> {
  const ports = [await freePort(), live, await freePort()]
  const gateway = await testProxy({
    ...options,
    change: (config) =>
      change({
        ...config,
        services: [{ name: 'aux', ...SERVICE, ports: [{ port: 80 }] }],
        workloads: ports.map((targetPort) => ({
          uid: `pod-${targetPort}`,
          addresses: ['127.0.0.1'],
          healthy: true,
          services: [{ ...SERVICE, ports: [{ port: 80, targetPort }] }],
        })),
      }),
  })
  stops.push(() => gateway.stop())
  return gateway
}

/** How often each status came. */
async function asked({ url }: TestProxy, init: RequestInit = {}): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let i = 0; i < CALLS; i++) {
    const response = await fetch(url, init)
    await response.arrayBuffer()
    counts[response.status] = (counts[response.status] ?? 0) + 1
  }
  return counts
}

const toService = (config: RenderedConfig): RenderedConfig => ({
  ...config,
  routes: config.routes.map((route) => ({ ...route, backends: [{ weight: 1, ref: REF }] })),
})

const ANYWHERE = { static: { host: '127.0.0.1', port: 1 } }

describe('a policy that calls the Service loses no call', () => {
  async function answersWith(live: number, inline: TrafficPayload, init?: RequestInit): Promise<unknown> {
    const backend = await upstreamOf(status(200))
    const route = { name: 'r', prefix: '/', backend: { static: { host: '127.0.0.1', port: backend.port } }, inline }
    return asked(await gatewayOf(live, { routes: [route] }), init)
  }

  it('extAuth over HTTP', async () => {
    const live = await upstreamOf(status(200))
    const inline: TrafficPayload = { extAuth: { service: REF, failureMode: 'FailClosed', http: {} } }
    expect(await answersWith(live.port, inline)).toEqual({ 200: CALLS })
    expect(live.seen).toHaveLength(CALLS)
  })

  it('extAuth over gRPC', { tags: ['full'] }, async () => {
    const live = await grpcServer([
      unaryMethod(Authorization.method.check, (_call, reply) =>
        reply(null, create(CheckResponseSchema, { status: { code: 0 } })),
      ),
    ])
    stops.push(() => live.kill())
    const inline: TrafficPayload = { extAuth: { service: REF, failureMode: 'FailClosed', grpc: {} } }
    expect(await answersWith(live.port, inline)).toEqual({ 200: CALLS })
  })

  it('remote rate limits', async () => {
    let count = 0
    const live = await grpcServer([
      unaryMethod(RateLimitService.method.shouldRateLimit, (_call, reply) => {
        count++
        reply(null, create(RateLimitResponseSchema, { overallCode: 1 }))
      }),
    ])
    stops.push(() => live.kill())
    const descriptors = [{ unit: 'Requests' as const, entries: [{ name: 'path', expression: 'request.path' }] }]
    const inline: TrafficPayload = {
      rateLimitGlobal: { service: REF, domain: 'shop', failureMode: 'FailClosed', descriptors },
    }
    expect(await answersWith(live.port, inline)).toEqual({ 200: CALLS })
    expect(count).toBe(CALLS)
  })

  it('external processing: bytes written before the stream was open are not lost', async () => {
    const live = await startProcessor()
    stops.push(() => live.stop())
    live.script = passing
    const inline: TrafficPayload = { extProc: { service: REF, failureMode: 'FailClosed' } }
    expect(await answersWith(live.port, inline, { method: 'POST', body: 'order' })).toEqual({ 200: CALLS })
    expect(live.calls).toHaveLength(CALLS)
  })
})

const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

firstOf(1)<['Completions' | 'Passthrough']>([['Completions'], ['Passthrough']])(
  'an LLM provider loses no call: %s',
  async (type) => {
    const live = await upstreamOf(status(200, { 'content-type': 'application/json' }, COMPLETION))
    const provider = { name: 'p', provider: { openai: { model: 'm' } }, backendRef: REF }
    const gateway = await gatewayOf(live.port, {
      routes: [
        {
          name: 'r',
          prefix: '/',
          backend: { ai: { groups: [{ providers: [provider] }] } },
          backendInline: { ai: { routes: { '*': type } } },
        },
      ],
    })
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    expect(await asked(gateway, init)).toEqual({ 200: CALLS })
    expect(live.seen).toHaveLength(CALLS)
  },
)

it('an MCP server loses no call', async () => {
  const live = await upstreamOf((response, { body }) => {
    const { id = null } = JSON.parse(body === '' ? '{}' : body) as { id?: number | null } // as the gateway sends it
    const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const mcp = { sessionRouting: 'Stateless', prefixMode: 'Conditional', failureMode: 'FailClosed' } as const
  const gateway = await gatewayOf(live.port, {
    routes: [{ name: 'r', prefix: '/', backend: { mcp: { ...mcp, targets: [{ name: 'a', ref: REF }] } } }],
  })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  }
  const counts: Record<string, number> = {}
  for (let i = 0; i < CALLS; i++) {
    const text = await (await fetch(gateway.url, init)).text()
    const outcome = text.includes('serverInfo') ? 'ok' : text
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  expect(counts).toEqual({ ok: CALLS })
})

it('a gRPC backend loses no call', { tags: ['full'] }, async () => {
  const live = await grpcServer([
    unaryMethod(Authorization.method.check, (_call, reply) =>
      reply(null, create(CheckResponseSchema, { status: { code: 0 } })),
    ),
  ])
  stops.push(() => live.kill())
  const gateway = await gatewayOf(live.port, {
    routes: [{ name: 'r', prefix: '/', backend: ANYWHERE }],
    change: (config) => ({
      ...toService(config),
      services: config.services.map((one) => ({ ...one, ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }] })),
    }),
  })
  const client = createGrpcClient()
  stops.push(() => client.close())
  for (let i = 0; i < CALLS; i++) {
    const options = { authority: 'a.test', deadlineMs: performance.now() + 10_000, signal: undefined }
    const message = create(Authorization.method.check.input)
    const answer = await client.unary(plainTarget(gateway.port), Authorization.method.check, message, options)
    expect(answer.status?.code).toBe(0)
  }
})

describe('a call of the proxy itself', () => {
  const placeOf = (port: number) => ({ target: plainTarget(port), state: localState() })
  const unreached = new GrpcUnreached(GrpcStatus.UNAVAILABLE, 'refused')

  function movesAfter(error: Error, deadlineMs = Infinity): number {
    const places = Array.from({ length: FAILOVERS_MAX + 4 }, (_, index) => placeOf(index + 1))
    const [first = placeOf(1)] = places
    const endpoints = new OwnCallEndpoints(first, {
      exchange: exchangeOf(),
      other: (failed) => places.find(({ state }) => !failed.includes(state)),
      deadlineMs,
    })
    const seen = new Set([endpoints.current])
    while (endpoints.next(error) !== undefined) seen.add(endpoints.current)
    return seen.size - 1
  }

  it('moves to at most the maximum number of endpoints', () => {
    expect(movesAfter(unreached)).toBe(FAILOVERS_MAX)
    expect(movesAfter(new UpstreamError('upstreamFailure', 'refused', true))).toBe(FAILOVERS_MAX)
  })

  it('does not move if the endpoint may have received the call, or after the deadline', () => {
    expect(movesAfter(new UpstreamError('upstreamFailure', 'reset'))).toBe(0)
    expect(movesAfter(new GrpcError(GrpcStatus.UNAVAILABLE, 'reset'))).toBe(0)
    expect(movesAfter(unreached, performance.now() - 1)).toBe(0)
  })
})

describe('a raw connection through a route is not lost', () => {
  const answered = async (socket: net.Socket): Promise<string> => {
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return first.toString('latin1').slice(0, 12)
  }

  it('CONNECT', async () => {
    const live = await listeningUntil(
      stops,
      net.createServer((socket) => socket.on('error', () => {}).pipe(socket)),
    )
    const connect: Policy = {
      key: 'connect',
      name: { kind: 'GwPolicy', namespace: 'ns', name: 'connect' },
      target: { gateway: { namespace: 'ns', name: 'gw' } },
      policy: { frontend: { connect: { mode: 'Route' } } },
    }
    const gateway = await gatewayOf(live, {
      routes: [{ name: 'r', prefix: '/', backend: ANYWHERE }],
      policies: [connect],
      change: (config) => ({
        ...toService(config),
        routes: toService(config).routes.map((route) => ({ ...route, matches: [] })),
      }),
    })
    const heads: string[] = []
    for (let i = 0; i < CALLS; i++) {
      const socket = net.connect(gateway.port, '127.0.0.1')
      socket.write('CONNECT a.test:80 HTTP/1.1\r\nhost: a.test:80\r\n\r\n')
      heads.push(await answered(socket))
    }
    expect(new Set(heads)).toEqual(new Set(['HTTP/1.1 200']))
  })

  it('WebSocket', { tags: ['full'] }, async () => {
    const server = http.createServer()
    server.on('upgrade', (request, socket) => {
      socket.on('error', () => {})
      const accept = request.headers['sec-websocket-key'] === undefined ? '' : 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
      )
    })
    const live = await listeningUntil(stops, server)
    const gateway = await gatewayOf(live, {
      routes: [{ name: 'r', prefix: '/', backend: ANYWHERE }],
      change: toService,
    })
    const heads: string[] = []
    for (let i = 0; i < CALLS; i++) {
      const socket = net.connect(gateway.port, '127.0.0.1')
      socket.write(
        'GET / HTTP/1.1\r\nhost: a.test\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
          'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      heads.push(await answered(socket))
    }
    expect(new Set(heads)).toEqual(new Set(['HTTP/1.1 101']))
  })
})
