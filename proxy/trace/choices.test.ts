// What a trace says of the choices on the way: listener, rule, policies with their origin, backend, endpoint.
import { createServer, request, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Policy } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import type { TraceEvent } from './trace-writer.ts'
import type { TraceMessage } from '../exchange/request-trace.ts'
import { messageOf, outline, watchTrace } from './watcher.testing.ts'

let upstream: Server
let gateway: TestProxy

const POLICIES: readonly Policy[] = [
  {
    key: 'traffic/ns/headers:headers:ns/gw',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'headers' },
    target: { gateway: { namespace: 'ns', name: 'gw' } },
    policy: { traffic: { requestHeaderModifier: { set: [{ name: 'x-edge', value: '1' }] } } },
  },
  {
    key: 'ns/watch:health:ns/failing',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'watch' },
    target: { backend: { namespace: 'ns', name: 'failing' } },
    policy: { backend: { health: { eviction: { durationMs: 60_000, consecutiveFailures: 1 } } } },
  },
]

beforeAll(async () => {
  upstream = createServer((incoming, response) => {
    response.statusCode = incoming.url === '/failing' ? 500 : 200
    response.end()
  })
  const host = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({
    routes: [
      { name: 'drawn', prefix: '/drawn', backend: host, inline: { csrf: { additionalOrigins: [] } } },
      { name: 'failing', prefix: '/failing', backend: host },
    ],
    policies: POLICIES,
    change: (config) => ({
      ...config,
      listeners: config.listeners.map((listener) => ({ ...listener, hostname: 'a.example' })),
      routes: config.routes.map((route) =>
        route.name.name === 'drawn'
          ? { ...route, backends: [...route.backends, { ref: { backend: 'ns/failing' }, weight: 0 }] }
          : route,
      ),
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

async function traceOf(path: string, host = 'a.example'): Promise<TraceEvent[]> {
  const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
  request({ port: gateway.port, host: '127.0.0.1', path, headers: { host } }, (response) => response.resume()).end()
  return watcher.ended
}

function phase(events: readonly TraceEvent[], name: string): TraceMessage | undefined {
  return events.find(({ message }) => message.type === 'policySelection' && message.phase === name)?.message
}

const detailsOf = (events: readonly TraceEvent[], kind: string): unknown[] =>
  events.flatMap(({ message }) => (message.type === 'policyEvent' && message.kind === kind ? [message.details] : []))

it('names listener, route, rule, backend, and where each policy is from', async () => {
  const events = await traceOf('/drawn')
  expect(phase(events, 'gateway')).toMatchObject({ gateway: 'ns/gw', listener: 'http' })
  expect(messageOf(events, 'routeSelection')).toMatchObject({ route: 'ns/drawn' })
  expect(phase(events, 'route')?.sources).toEqual({
    requestHeaderModifier: ['traffic/ns/headers:headers:ns/gw'],
    csrf: ['route/ns/drawn.00.http'],
  })
  expect(phase(events, 'backend')).toMatchObject({ backend: 'ns/drawn' })
})

it('names what the backend was drawn from, where there was a choice', async () => {
  expect(detailsOf(await traceOf('/drawn'), 'backend')).toEqual([
    'selected ns/drawn; weights: ns/drawn 1, ns/failing 0',
  ])
  expect(detailsOf(await traceOf('/failing'), 'backend')).toEqual([])
})

it('shows that an evicted endpoint is called because no other exists', async () => {
  const before = await traceOf('/failing')
  expect(phase(before, 'backend')?.sources).toEqual({ health: ['ns/watch:health:ns/failing'] })
  const events = await traceOf('/failing')
  const [called] = detailsOf(events, 'health')
  expect(called).toMatch(/^127\.0\.0\.1:\d+ is evicted, but all other candidates are evicted too/)
  expect(outline(events)).toContain('backendCallStart')
})

it('says which host no listener is for', async () => {
  const events = await traceOf('/drawn', 'b.example')
  expect(detailsOf(events, 'listener')).toEqual([`port ${gateway.port} has no listener for the host b.example`])
  expect(events.at(-1)).toMatchObject({ message: { status: 404, error: 'listener not found' } })
})
