// frontend.tracing: which requests have spans, the content of spans, and how a trace continues.
import { expect, vi } from 'vitest'
import type { ReceivedSpan } from '#proxy/otlp/collector.testing.ts'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'frontend-tracing.yaml'
const DEADLINE_MS = 15_000
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SERVER = 2

/** Spans of one path; waits for the span of the request. */
async function spansOf({ upstreams }: SampleGateway, path: string): Promise<ReceivedSpan[]> {
  const { spans } = upstreams.collectors.grpc
  const server = await vi.waitUntil(
    () => spans.find(({ kind, attributes }) => kind === SERVER && attributes['http.path'] === path),
    { timeout: DEADLINE_MS },
  )
  return spans.filter(({ traceId }) => traceId === server.traceId)
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Tracing',
    description: 'sampled requests have a span and one for the request to the backend, and the backend gets the trace',
    sample: SAMPLE,
    async run(gateway) {
      const { headers: untraced } = await gateway.echo('/echo?n=0')
      expect(untraced['traceparent']).toBeUndefined()
      const { headers } = await gateway.echo('/echo?n=1', { headers: { 'x-trace': '1', 'x-tenant': 'shop' } })
      const [server, client, ...others] = await spansOf(gateway, '/echo?n=1')
      expect(others).toEqual([])
      expect(server).toMatchObject({ name: 'GET /echo/*', attributes: { tenant: 'shop', 'http.status': 200 } })
      expect(Object.keys(server?.attributes ?? {})).not.toContain('src.addr')
      expect(client).toMatchObject({ parentSpanId: server?.spanId, attributes: { 'gw.outbound.kind': 'Primary' } })
      expect(headers['traceparent']).toBe(`00-${server?.traceId}-${client?.spanId}-01`)
      const { collectors } = gateway.upstreams
      expect(collectors.grpc.resources.at(-1)).toMatchObject({
        'service.name': 'frontend-tracing',
        'deployment.environment.name': 'test',
      })
      expect(collectors.grpc.spans.some(({ attributes }) => attributes['http.path'] === '/echo?n=0')).toBe(false)
    },
  },
  {
    shortName: 'TracingOfClient',
    description: 'a request that belongs to a trace continues it',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-tracing', {
      frontend: { tracing: { protocol: 'GRPC', clientSampling: '1.0' } },
    }),
    async run(gateway) {
      await gateway.echo('/echo?n=2', { headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'v=1' } })
      const [server] = await spansOf(gateway, '/echo?n=2')
      expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'v=1' })
    },
  },
  {
    shortName: 'TracingMissingCollector',
    description: 'a collector that does not exist does not affect requests, and the status names it',
    sample: SAMPLE,
    change: replacing('        name: collector\n      randomSampling', '        name: absent\n      randomSampling'),
    async run(gateway) {
      await gateway.echo('/echo', { headers: { 'x-trace': '1' } })
      const [accepted] = gateway.conditions('GwPolicy', 'frontend-tracing')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('absent')
    },
  },
  {
    shortName: 'TracingOverHttp',
    description:
      'spans go to the path of an HTTP collector; requests with a trace have their own sampling, spans are filtered',
    sample: SAMPLE,
    change: all(
      replacing('port: 18097', 'port: 18098'),
      changing('GwPolicy/frontend-tracing', {
        frontend: {
          tracing: {
            protocol: 'HTTP',
            path: '/collect/traces',
            clientSampling: '!("x-private" in request.headers)',
            filter: 'request.path != "/echo/quiet"',
          },
        },
      }),
    ),
    async run(gateway) {
      const { spans, calls } = gateway.upstreams.collectors.http
      const traceparent = (last: string): Record<string, string> => ({
        traceparent: `00-${TRACE.slice(0, -1)}${last}-${PARENT}-01`,
      })
      await gateway.echo('/echo/private', { headers: { ...traceparent('1'), 'x-private': '1' } })
      await gateway.echo('/echo/quiet', { headers: traceparent('2') })
      await gateway.echo('/echo/loud', { headers: traceparent('3') })
      const paths = (): unknown[] => spans.map(({ attributes }) => attributes['http.path'])
      await vi.waitUntil(() => paths().includes('/echo/loud'), { timeout: DEADLINE_MS })
      expect(paths()).not.toContain('/echo/private')
      expect(paths()).not.toContain('/echo/quiet')
      expect(calls).toContainEqual(expect.stringMatching(/^POST \/collect\/traces /))
    },
  },
]
