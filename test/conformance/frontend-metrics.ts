// frontend.metrics: labels computed by expressions.
import { expect, vi } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'frontend-metrics.yaml'
const DEADLINE_MS = 10_000
const GATEWAY = 'gateway="default/frontend-metrics"'

/** Lines of the counter of requests, by the tenant. */
async function counts(gateway: SampleGateway, wanted: Readonly<Record<string, string>>): Promise<void> {
  await vi.waitFor(
    async () => {
      const lines = (await gateway.metrics()).split('\n')
      const own = lines.filter((line) => line.startsWith('gw_requests_total{') && line.includes(GATEWAY))
      const found = own.map((line) => [/tenant="([^"]*)"/.exec(line)?.[1] ?? '', line.split(' ').at(-1)])
      expect(Object.fromEntries(found)).toMatchObject(wanted)
      const durations = lines.filter((line) => line.startsWith('gw_request_processing_seconds_count{'))
      expect(durations.some((line) => line.includes(GATEWAY) && line.includes('tenant="'))).toBe(true)
    },
    { timeout: DEADLINE_MS },
  )
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Metrics',
    description: 'metrics of a request have the label; if the expression fails it is unknown',
    sample: SAMPLE,
    async run(gateway) {
      for (const tenant of ['shop', 'shop', 'bank']) await gateway.echo('/echo', { headers: { 'x-tenant': tenant } })
      await gateway.echo('/echo')
      await counts(gateway, { shop: '2', bank: '1', unknown: '1' })
    },
  },
  {
    shortName: 'MetricsFlatten',
    description: 'several fields are not a value of a label: it is unknown, and the status reports it',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-metrics', {
      frontend: { metrics: { attributes: { add: [{ name: 'tenant', expression: 'flatten({"a": 1, "b": 2})' }] } } },
    }),
    async run(gateway) {
      await gateway.echo('/echo')
      await counts(gateway, { unknown: '1' })
      expect(await gateway.metrics()).not.toMatch(/tenant_a|tenant\.a/)
      const [accepted] = gateway.conditions('GwPolicy', 'frontend-metrics')
      expect(accepted).toMatchObject({ status: 'True', reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('calls flatten(), which is for logs and traces')
    },
  },
  {
    shortName: 'MetricsBroken',
    description: 'with an expression that does not compile the label is unknown, and the status names it',
    sample: SAMPLE,
    change: (text) =>
      replacing(
        'expression: request.headers["x-tenant"]',
        'expression: request.headers[',
      )(text).replaceAll('frontend-metrics', 'broken-metrics'),
    async run(gateway) {
      await gateway.echo('/echo', { headers: { 'x-tenant': 'shop' } })
      await vi.waitFor(
        async () =>
          expect(await gateway.metrics()).toMatch(/gw_requests_total\{.*broken-metrics.*tenant="unknown".*\} 1/),
        { timeout: DEADLINE_MS },
      )
      const [accepted] = gateway.conditions('GwPolicy', 'broken-metrics')
      expect(accepted?.message).toContain('spec.frontend.metrics.attributes.add[0].expression')
    },
  },
]
