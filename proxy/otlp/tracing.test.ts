// frontend.tracing and accessLog.otlp on a real proxy; the OpenTelemetry project's decoder reads what collectors get.
// @module-tag full
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FrontendPayload, Policy, TrafficPayload, Tracing } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { grpcCollector, httpCollector, type ReceivedSpan, type TestCollector } from '#proxy/otlp/collector.testing.ts'
import { firstOf } from '#test/run/table.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const DEADLINE_MS = 10_000
const SERVER = 2
const CLIENT = 3

let upstream: Server
let upstreamPort: number
const seen: IncomingHttpHeaders[] = []

beforeAll(async () => {
  upstream = createServer((request, response) => {
    seen.push(request.headers)
    response.statusCode = request.url === '/plain/broken' ? 503 : 200
    response.end('ok')
  })
  upstreamPort = await listening(upstream)
})

afterAll(() => closeServer(upstream))

interface Setup {
  readonly frontend: (collector: string) => FrontendPayload
  readonly collector: TestCollector
  readonly inline?: TrafficPayload
}

async function withProxy(
  { frontend, collector, inline }: Setup,
  run: (gateway: TestProxy) => Promise<void>,
): Promise<void> {
  const policy: Policy = {
    key: 'telemetry',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'telemetry' },
    target: { gateway: { namespace: 'ns', name: 'gw' } },
    policy: { frontend: frontend('ns/collector') },
  }
  const route = (name: string, port: number): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: { static: { host: '127.0.0.1', port } },
    ...(inline && { inline }),
  })
  const gateway = await testProxy({
    routes: [route('plain', upstreamPort), route('other', upstreamPort), route('collector', collector.port)],
    policies: [policy],
  })
  try {
    await run(gateway)
  } finally {
    // Graceful: what is gathered leaves at the end.
    await gateway.proxy.stop()
    collector.stop()
  }
}

const target = (service: string, protocol: 'GRPC' | 'HTTP' = 'GRPC'): Tracing['target'] => ({
  service: { backend: service },
  protocol,
})

async function ask(
  gateway: TestProxy,
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingHttpHeaders> {
  await (await fetch(gateway.url + path, { headers })).text()
  return seen.at(-1) ?? {}
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

function ofKind(spans: readonly ReceivedSpan[], kind: number): ReceivedSpan[] {
  return spans.filter((span) => span.kind === kind)
}

const everything = (service: string, protocol: 'GRPC' | 'HTTP'): FrontendPayload => ({
  tracing: {
    target: target(service, protocol),
    randomSampling: '1.0',
    add: [
      { name: 'tenant', expression: 'request.headers["x-tenant"]' },
      { name: 'broken', expression: '((' },
      { name: 'flat', expression: 'flatten({"a": 1, "b": [true]})' },
    ],
    remove: ['http.host'],
    resources: [
      { name: 'deployment.environment.name', expression: "'prod'" },
      { name: 'failed', expression: 'request.path' },
    ],
  },
})

function expectResource(collector: TestCollector): void {
  expect(collector.resources[0]).toMatchObject({
    'service.name': 'gw',
    'service.version': expect.any(String),
    'service.instance.id': expect.any(String),
    'host.name': expect.any(String),
    'deployment.environment.name': 'prod',
  })
  expect(Object.keys(collector.resources[0] ?? {})).not.toContain('failed')
}

function namesOf(span: ReceivedSpan | undefined): string[] {
  return Object.keys(span?.attributes ?? {})
}

describe.each(['GRPC', 'HTTP'] as const)('spans by %s', (protocol) => {
  it('has a span for the request and one for its call, and passes the trace on', async () => {
    const collector = await (protocol === 'GRPC' ? grpcCollector() : httpCollector())
    await withProxy({ frontend: (service) => everything(service, protocol), collector }, async (gateway) => {
      const got = await ask(gateway, '/plain/x?q=1', { 'x-tenant': 'shop', tracestate: 'lost=1' })
      expect(got['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
      // It belonged to no trace.
      expect(got['tracestate']).toBeUndefined()
      await ask(gateway, '/plain/broken')
    })
    const [server, second] = ofKind(collector.spans, SERVER)
    const [client, failed] = ofKind(collector.spans, CLIENT)
    expect(collector.spans).toHaveLength(4)
    expect(server).toMatchObject({
      name: 'GET /plain/*',
      parentSpanId: '',
      attributes: {
        gateway: 'ns/gw',
        route: 'ns/plain',
        'http.method': 'GET',
        'http.path': '/plain/x?q=1',
        'http.status': 200,
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
        tenant: 'shop',
        'flat.a': 1,
        'flat.b': [true],
        protocol: 'http',
      },
    })
    expect(namesOf(server)).not.toContain('http.host')
    expect(namesOf(server)).not.toContain('broken')
    expect(server?.endNanos).toBeGreaterThan(server?.startNanos ?? 0n)
    expect(client).toMatchObject({
      name: `GET 127.0.0.1:${upstreamPort}`,
      traceId: server?.traceId,
      parentSpanId: server?.spanId,
      attributes: {
        'gw.outbound.kind': 'Primary',
        'gw.outbound.subtype': 'Http',
        'http.method': 'GET',
        'http.path': '/plain/x',
        'http.status': 200,
      },
    })
    expect(seen.some(({ traceparent }) => traceparent === `00-${server?.traceId}-${client?.spanId}-01`)).toBe(true)
    expect(second?.attributes['http.status']).toBe(503)
    expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '503' } })
    expectResource(collector)
    expect(new Set(collector.scopes)).toEqual(new Set(['gw']))
    expect(collector.calls[0]).toBe(
      protocol === 'GRPC'
        ? '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
        : 'POST /v1/traces application/x-protobuf',
    )
  })
})

describe('sampling', () => {
  const incoming = (flags: string): Record<string, string> => ({
    traceparent: `00-${TRACE}-${PARENT}-${flags}`,
    tracestate: 'a=1',
  })

  async function sampled(
    tracing: Omit<Tracing, 'target'>,
    headers: Record<string, string>,
  ): Promise<{ got: IncomingHttpHeaders; collector: TestCollector }> {
    const collector = await grpcCollector()
    let got: IncomingHttpHeaders = {}
    await withProxy(
      { frontend: (service) => ({ tracing: { target: target(service), ...tracing } }), collector },
      async (gateway) => {
        got = await ask(gateway, '/plain', headers)
      },
    )
    return { got, collector }
  }

  it('continues the trace of the client', async () => {
    const { got, collector } = await sampled({}, incoming('01'))
    const [server] = ofKind(collector.spans, SERVER)
    expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'a=1' })
    expect(got['traceparent']).toBe(`00-${TRACE}-${ofKind(collector.spans, CLIENT)[0]?.spanId}-01`)
    expect(got['tracestate']).toBe('a=1')
  })

  it('exports nothing of a trace that is not recorded, and passes its ids on', async () => {
    const { got, collector } = await sampled({}, incoming('00'))
    expect(collector.spans).toEqual([])
    expect(got['traceparent']).toMatch(new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-00$`))
  })
})

describe('calls of policies', () => {
  it('are spans of their own, and mirrors too', async () => {
    const collector = await grpcCollector()
    const asked: IncomingHttpHeaders[] = []
    const authorizer = createServer((request, response) => {
      asked.push(request.headers)
      response.end()
    })
    const port = await listening(authorizer)
    const policy: Policy = {
      key: 'traced',
      name: { kind: 'GwPolicy', namespace: 'ns', name: 'traced' },
      target: { gateway: { namespace: 'ns', name: 'gw' } },
      policy: { frontend: { tracing: { target: target('ns/collector'), randomSampling: 'true' } } },
    }
    const gateway = await testProxy({
      policies: [policy],
      routes: [
        {
          name: 'plain',
          prefix: '/plain',
          backend: { static: { host: '127.0.0.1', port: upstreamPort } },
          inline: {
            extAuth: { service: { backend: 'ns/authz' }, failureMode: 'FailClosed', http: {} },
            requestMirror: [{ ref: { backend: 'ns/other' }, numerator: 1, denominator: 1 }],
          },
        },
        { name: 'other', prefix: '/other', backend: { static: { host: '127.0.0.1', port: upstreamPort } } },
        { name: 'authz', prefix: '/authz', backend: { static: { host: '127.0.0.1', port } } },
        { name: 'collector', prefix: '/collector', backend: { static: { host: '127.0.0.1', port: collector.port } } },
      ],
    })
    const before = seen.length
    await ask(gateway, '/plain')
    await expect.poll(() => seen.length, { timeout: DEADLINE_MS }).toBe(before + 2)
    await gateway.proxy.stop()
    closeServer(authorizer)
    collector.stop()
    const [server] = ofKind(collector.spans, SERVER)
    const calls = ofKind(collector.spans, CLIENT)
    expect(
      calls.map(({ name, attributes }) => `${name} ${String(attributes['gw.outbound.kind'])}`).sort(byText),
    ).toEqual(['ExtAuthz Policy', `GET 127.0.0.1:${upstreamPort} Primary`, 'Http Mirror'])
    for (const call of calls) expect(call).toMatchObject({ traceId: server?.traceId, parentSpanId: server?.spanId })
    const authz = calls.find(({ name }) => name === 'ExtAuthz')
    expect(asked[0]?.['traceparent']).toBe(`00-${server?.traceId}-${authz?.spanId}-01`)
  })
})

describe('log records', () => {
  firstOf(1)<['GRPC' | 'HTTP']>([['GRPC'], ['HTTP']])(
    'carry the fields of the line by %s, filtered on their own',
    async (protocol) => {
      const collector = await (protocol === 'GRPC' ? grpcCollector() : httpCollector())
      const frontend = (service: string): FrontendPayload => ({
        accessLog: {
          filter: 'false',
          otlp: {
            target: target(service, protocol),
            filter: 'request.path != "/plain/quiet"',
            add: [{ name: 'agent', expression: 'request.headers["user-agent"]' }],
            remove: ['http.host'],
          },
        },
        tracing: { target: target(service, protocol), clientSampling: 'true' },
      })
      await withProxy({ frontend, collector }, async (gateway) => {
        await ask(gateway, '/plain/quiet')
        await ask(gateway, '/plain/loud', { traceparent: `00-${TRACE}-${PARENT}-01`, 'user-agent': 'test' })
      })
      expect(collector.logs).toHaveLength(1)
      const [server] = ofKind(collector.spans, SERVER)
      expect(collector.logs[0]).toMatchObject({
        body: 'request',
        severityText: 'info',
        severityNumber: 9,
        traceId: TRACE,
        spanId: server?.spanId,
        attributes: {
          'http.path': '/plain/loud',
          'http.status': 200,
          'trace.id': TRACE,
          'span.id': server?.spanId,
          agent: 'test',
          duration: expect.stringMatching(/^\d+ms$/),
        },
      })
      expect(Object.keys(collector.logs[0]?.attributes ?? {})).not.toContain('http.host')
    },
  )
})
