// frontend.accessLog: which requests are logged, and with what.
import { expect, vi } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'frontend-access-log.yaml'
const DEADLINE_MS = 15_000

/** Lines of requests to this gateway; waits for the last one. */
async function lines(gateway: SampleGateway, last: string): Promise<string[]> {
  await vi.waitUntil(() => gateway.log().includes(last), { timeout: DEADLINE_MS })
  return gateway
    .log()
    .split('\n')
    .filter((line) => line.includes(`http.host=127.0.0.1:${gateway.port} `))
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AccessLog',
    description: 'only requests that match the filter are logged, with added fields and without removed ones',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.ask('/echo?n=1')
      await gateway.ask('/echo?n=2', { headers: { 'x-log': '1', 'x-tenant': 'shop' } })
      await gateway.ask('/nowhere?n=3')
      const [second, third, ...others] = await lines(gateway, '?n=3')
      expect(others).toEqual([])
      expect(second).toMatch(/http\.path=\/echo\?n=2 .*http\.status=200 .*tenant=shop$/)
      expect(third).toMatch(/http\.path=\/nowhere\?n=3 .*http\.status=404 .*reason=NotFound/)
      expect(third).not.toContain('tenant=')
      for (const line of [second, third]) expect(line).not.toContain('src.addr=')
    },
  },
  {
    shortName: 'AccessLogOtlp',
    description: 'the same requests are sent to the collector, with its own attributes',
    sample: SAMPLE,
    async run(gateway) {
      const { logs } = gateway.upstreams.collectors.http
      await gateway.ask('/echo?n=1')
      await gateway.ask('/echo?n=2', { headers: { 'x-log': '1', 'x-tenant': 'shop' } })
      const own = await vi.waitUntil(
        () => {
          const records = logs.filter(({ attributes }) => attributes['http.host'] === `127.0.0.1:${gateway.port}`)
          return records.length > 0 && records
        },
        { timeout: DEADLINE_MS },
      )
      expect(own.map(({ attributes }) => attributes['http.path'])).toEqual(['/echo?n=2'])
      expect(own[0]).toMatchObject({ body: 'request', attributes: { tenant: 'shop', type: 'application/json' } })
      // Its attributes replace those of the line.
      expect(own[0]?.attributes['src.addr']).toMatch(/^127\.0\.0\.1:/)
    },
  },
  {
    shortName: 'AccessLogFlatten',
    description: 'a flattened value is a field for each of its entries, in the line and in the export',
    sample: SAMPLE,
    change: replacing('expression: request.headers["x-tenant"]', 'expression: \'flatten({"a": "x", "b": [1, true]})\''),
    async run(gateway) {
      await gateway.ask('/echo?flat', { headers: { 'x-log': '1' } })
      const [line] = await lines(gateway, '?flat')
      expect(line).toMatch(/ tenant\.a=x tenant\.b=\[1,true\]$/)
    },
  },
  {
    shortName: 'AccessLogBrokenAttribute',
    description: 'an attribute that does not compile is left out of every line, and the status names it',
    sample: SAMPLE,
    change: replacing('expression: request.headers["x-tenant"]', 'expression: request.headers['),
    async run(gateway) {
      await gateway.ask('/echo?once', { headers: { 'x-log': '1', 'x-tenant': 'shop' } })
      const [line] = await lines(gateway, '?once')
      expect(line).not.toContain('tenant=')
      const [accepted] = gateway.conditions('GwPolicy', 'frontend-access-log')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.frontend.accessLog.attributes.add[0].expression')
    },
  },
  {
    shortName: 'AccessLogOtlpOwn',
    description: 'the export has its own protocol, path, filter and removed attributes',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-access-log', {
      frontend: {
        accessLog: {
          otlp: { path: '/collect/logs', filter: 'response.code < 400', attributes: { remove: ['src.addr'] } },
        },
      },
    }),
    async run(gateway) {
      const { logs, calls } = gateway.upstreams.collectors.http
      const own = (): unknown[] =>
        logs.filter(({ attributes }) => attributes['http.host'] === `127.0.0.1:${gateway.port}`)
      await gateway.ask('/nowhere')
      await gateway.ask('/echo?n=1', { headers: { 'x-tenant': 'shop' } })
      await vi.waitUntil(() => own().length > 0, { timeout: DEADLINE_MS })
      expect(own()).toMatchObject([{ attributes: { 'http.path': '/echo?n=1', tenant: 'shop' } }])
      expect(JSON.stringify(own())).not.toContain('src.addr')
      expect(calls).toContainEqual(expect.stringMatching(/^POST \/collect\/logs /))
    },
  },
  {
    shortName: 'AccessLogOtlpGrpc',
    description: 'the export supports collectors of both protocols',
    sample: SAMPLE,
    change: all(
      replacing('port: 18098', 'port: 18097'),
      changing('GwPolicy/frontend-access-log', { frontend: { accessLog: { otlp: { protocol: 'GRPC' } } } }),
    ),
    async run(gateway) {
      const { logs } = gateway.upstreams.collectors.grpc
      await gateway.ask('/echo?grpc', { headers: { 'x-log': '1' } })
      await expect
        .poll(() => logs.map(({ attributes }) => attributes['http.path']), { timeout: DEADLINE_MS })
        .toContain('/echo?grpc')
    },
  },
]
