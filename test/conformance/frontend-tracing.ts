// frontend.tracing: which requests have spans, what is in them, and how the trace goes on.
import { expect, vi } from 'vitest'
import type { ReceivedSpan } from '#test/otlp-collector.ts'
import { replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'frontend-tracing.yaml'
const DEADLINE_MS = 15_000
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SERVER = 2

/** Spans of one path, once its request's own is there. */
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
    description: 'sampled requests have a span and one for their call, and the backend gets the trace',
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
    description: 'a request that belongs to a trace goes on with it',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/echo?n=2', { headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'v=1' } })
      const [server] = await spansOf(gateway, '/echo?n=2')
      expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'v=1' })
    },
  },
  {
    shortName: 'TracingMissingCollector',
    description: 'a collector that does not exist hinders no request, and the status names it',
    sample: SAMPLE,
    change: replacing('        name: collector\n      randomSampling', '        name: nobody\n      randomSampling'),
    async run(gateway) {
      await gateway.echo('/echo', { headers: { 'x-trace': '1' } })
      const [accepted] = gateway.conditions('GwPolicy', 'frontend-tracing')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('nobody')
    },
  },
]
