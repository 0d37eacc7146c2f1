// From a finished exchange to the text of a scrape, through shared memory.
import { describe, expect, it } from 'vitest'
import { type Connection, Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest, HttpResponse } from '../message/message.ts'
import { MetricsAggregate } from './aggregate.ts'
import { SeriesReader, SeriesTable, createMetricsBuffer } from './buffer.ts'
import { createExposition } from './exposition.ts'
import { EXCHANGE, FAMILIES, GAUGES, MCP } from './families.ts'
import { Recorder } from './recorder.ts'
import { pricedAt } from '../llm/cost/priced.testing.ts'
import { emptyFacts } from '../llm/usage.ts'

const connection: Connection = {
  id: 1,
  sourceAddress: '10.0.0.1',
  sourcePort: 1,
  localAddress: '10.0.0.2',
  localPort: 80,
  isTls: false,
  sni: undefined,
  signal: new AbortController().signal,
  close: () => undefined,
  cut: () => true,
}
const PLACE: ExchangePlace = {
  bind: '80/infra/edge',
  gatewayNamespace: 'infra',
  gatewayName: 'edge',
  listener: 'http',
  routeKind: 'HTTPRoute',
  routeNamespace: 'shop',
  routeName: 'cart',
  routeRule: undefined,
}
const ROUTE = 'bind="80/infra/edge",gateway="infra/edge",listener="http",route="shop/cart",route_rule="unknown"'

function exchangeOf(method = 'GET', place: ExchangePlace | undefined = PLACE, connectionId = 1): Exchange {
  const request = new HttpRequest({
    method,
    path: '/',
    query: '',
    host: 'h',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: new HeaderList(),
  })
  const exchange = new Exchange({ ...connection, id: connectionId }, request, 100)
  exchange.place = place
  exchange.response = HttpResponse.local(200)
  exchange.backendName = 'shop/cart'
  exchange.backendProtocol = 'http'
  exchange.responseBytes = 10
  return exchange
}

interface Worker {
  readonly buffer: SharedArrayBuffer
  readonly recorder: Recorder
}

function setUp(): {
  aggregate: MetricsAggregate
  worker: () => Worker
  scrape: (accept?: string) => Promise<string[]>
} {
  const aggregate = new MetricsAggregate()
  const exposition = createExposition(aggregate, [
    { name: 'gw_config_applied_total', help: 'h', type: 'counter', values: () => [{ value: 3 }] },
  ])
  return {
    aggregate,
    worker: () => {
      const buffer = createMetricsBuffer()
      aggregate.attach(buffer)
      return { buffer, recorder: new Recorder(new SeriesTable(buffer)) }
    },
    scrape: async (accept) => String((await exposition.scrape(accept)).body).split('\n'),
  }
}

const LABELS = `backend="shop/cart",protocol="http",method="GET",status="200",reason="Upstream",${ROUTE}`

describe('metrics', () => {
  it('adds up workers and keeps the totals of dead ones', async () => {
    const { aggregate, worker, scrape } = setUp()
    const [a, b] = [worker(), worker()]
    for (let i = 0; i < 3; i++) a.recorder.finished(exchangeOf(), 104)
    b.recorder.finished(exchangeOf(), 101)
    expect(await scrape()).toContain(`gw_requests_total{${LABELS}} 4`)
    aggregate.detach(a.buffer)
    expect(await scrape()).toContain(`gw_requests_total{${LABELS}} 4`)
    b.recorder.finished(exchangeOf(), 101)
    worker().recorder.finished(exchangeOf(), 101)
    const lines = await scrape()
    expect(lines).toContain(`gw_requests_total{${LABELS}} 6`)
    expect(lines).toContain(`gw_response_bytes_total{${LABELS}} 60`)
    // 4 ms three times, 1 ms three times: bounds are inclusive.
    expect(lines).toContain(`gw_request_duration_seconds_bucket{le="0.001",${LABELS}} 3`)
    expect(lines).toContain(`gw_request_duration_seconds_bucket{le="0.005",${LABELS}} 6`)
    expect(lines).toContain(`gw_request_duration_seconds_bucket{le="+Inf",${LABELS}} 6`)
    expect(lines).toContain(`gw_request_duration_seconds_count{${LABELS}} 6`)
    const sum = lines.find((line) => line.startsWith('gw_request_duration_seconds_sum'))
    expect(Number(sum?.split(' ').at(-1))).toBeCloseTo(0.015)
  })

  it('counts each connection once, however its requests mix with others', async () => {
    const { worker, scrape } = setUp()
    const { recorder } = worker()
    for (let round = 0; round < 3; round++) {
      for (const id of [1, 2, 70_000, 300_000]) recorder.finished(exchangeOf('GET', PLACE, id), 101)
    }
    const labels = 'bind="80/infra/edge",gateway="infra/edge",listener="http",protocol="http"'
    expect(await scrape()).toContain(`gw_downstream_connections_total{${labels}} 4`)
  })

  it('separates processing in the gateway from the call of the backend', async () => {
    const { worker, scrape } = setUp()
    const exchange = exchangeOf()
    exchange.upstreamStartMs = 100.2
    exchange.upstreamHeadMs = 150
    worker().recorder.finished(exchange, 154)
    const lines = await scrape()
    const labels = `backend="shop/cart",${ROUTE}`
    expect(lines).toContain(`gw_request_processing_seconds_bucket{le="0.0001",${labels}} 0`)
    expect(lines).toContain(`gw_request_processing_seconds_bucket{le="0.00025",${labels}} 1`)
    expect(lines).toContain(`gw_response_processing_seconds_bucket{le="0.0025",${labels}} 0`)
    expect(lines).toContain(`gw_response_processing_seconds_bucket{le="0.005",${labels}} 1`)
    const call = 'kind="Primary",subtype="Http"'
    expect(lines).toContain(`gw_upstream_call_duration_seconds_bucket{le="0.025",${call}} 0`)
    expect(lines).toContain(`gw_upstream_call_duration_seconds_bucket{le="0.05",${call}} 1`)
  })

  it('counts LLM and MCP facts', async () => {
    const { worker, scrape } = setUp()
    const exchange = exchangeOf('POST')
    exchange.llm = {
      ...emptyFacts('openai'),
      isStreaming: true,
      requestModel: 'gpt',
      responseModel: undefined,
      inputTokens: 64,
      cachedInputTokens: undefined,
      cacheCreationInputTokens: undefined,
      outputTokens: 11,
      reasoningTokens: undefined,
      totalTokens: 75,
      timeToFirstTokenMs: 30,
      pricing: pricedAt({ usd: { total: 0.25 } }),
      guards: [{ phase: 'Request', guard: 'regex', action: 'Mask', count: 2, matched: new Set(['Ssn']) }],
    }
    exchange.mcp = {
      methodName: 'tools/call',
      sessionId: undefined,
      kind: 'tool',
      target: 'time',
      name: 'now',
      errorCode: undefined,
      errorMessage: undefined,
      dropped: undefined,
    }
    worker().recorder.finished(exchange, 330)
    const lines = await scrape()
    const model =
      'gen_ai_operation_name="chat",gen_ai_system="openai",gen_ai_request_model="gpt",' +
      `gen_ai_response_model="unknown",${ROUTE}`
    expect(lines).toContain(`gw_gen_ai_client_token_usage_sum{gen_ai_token_type="input",${model}} 64`)
    expect(lines).toContain(`gw_gen_ai_client_token_usage_bucket{le="64",gen_ai_token_type="input",${model}} 1`)
    expect(lines).toContain(`gw_gen_ai_client_token_usage_sum{gen_ai_token_type="output",${model}} 11`)
    expect(lines).toContain(`gw_gen_ai_server_request_duration_bucket{le="0.32",${model}} 1`)
    expect(lines).toContain(`gw_gen_ai_client_cost_usd_total{${model}} 0.25`)
    expect(lines).toContain(`gw_cost_catalog_lookups_total{status="Exact",${model}} 1`)
    expect(lines).toContain(`gw_gen_ai_server_time_to_first_token_sum{${model}} 0.03`)
    expect(lines).toContain('gw_guardrail_checks_total{phase="Request",action="Mask"} 2')
    expect(lines).toContain('gw_guardrail_matches_total{phase="Request",guard="regex",pattern="Ssn"} 1')
    // (230 - 30) ms over 10 pauses.
    expect(lines).toContain(`gw_gen_ai_server_time_per_output_token_sum{${model}} 0.02`)
    expect(lines).toContain(
      `gw_mcp_requests_total{method="tools/call",resource_type="tool",server="time",resource="now",${ROUTE}} 1`,
    )
  })

  it('shares one series between unknown methods and marks what never had a response', async () => {
    const { worker, scrape } = setUp()
    const { recorder } = worker()
    for (let i = 0; i < 100; i++) recorder.finished(exchangeOf(`M${i}`), 101)
    const lost = exchangeOf('GET')
    lost.response = undefined
    lost.place = undefined
    recorder.finished(lost, 101)
    const lines = (await scrape()).filter((line) => line.startsWith('gw_requests_total{'))
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/method="_OTHER".* 100$/)
    expect(lines[1]).toMatch(/status="unknown".*bind="unknown".* 1$/)
  })

  it('keeps counting after a configuration change under the same labels', async () => {
    const { worker, scrape } = setUp()
    const { recorder } = worker()
    recorder.finished(exchangeOf('GET', PLACE), 101)
    recorder.configChanged()
    recorder.finished(exchangeOf('GET', { ...PLACE }), 101)
    expect(await scrape()).toContain(`gw_requests_total{${LABELS}} 2`)
  })

  it('speaks OpenMetrics when asked', async () => {
    const { worker, scrape } = setUp()
    worker().recorder.finished(exchangeOf(), 101)
    for (let i = 0; i < 2; i++) {
      const lines = await scrape('application/openmetrics-text; version=1.0.0')
      expect(lines.at(-2)).toBe('# EOF')
      expect(lines).toContain('# TYPE gw_requests counter')
      expect(lines).toContain(`gw_requests_total{${LABELS}} 1`)
      expect(lines).toContain('gw_config_applied_total 3')
      expect(await scrape('text/plain')).toContain('# TYPE gw_requests_total counter')
    }
  })

  it('escapes label values', async () => {
    const { worker, scrape } = setUp()
    const exchange = exchangeOf()
    exchange.backendName = 'a"b\\c\nd'
    worker().recorder.finished(exchange, 101)
    expect((await scrape()).join('\n')).toContain(String.raw`backend="a\"b\\c\nd"`)
  })
})

describe('MetricsAggregate', () => {
  it('stays bounded however many workers die with series of their own', () => {
    const aggregate = new MetricsAggregate()
    const workers = 6
    for (let w = 0; w < workers; w++) {
      const buffer = createMetricsBuffer()
      aggregate.attach(buffer)
      const table = new SeriesTable(buffer)
      for (let i = 0; i < MCP.seriesMax; i++) {
        table.values[
          table.series(
            MCP,
            MCP.labels.map(() => `${w}-${i}`),
          )
        ] = 1
      }
      aggregate.detach(buffer)
    }
    aggregate.refresh()
    const series = aggregate.series(MCP)
    expect(series.length).toBeLessThanOrEqual(MCP.seriesMax * 4 + 1)
    expect(series.reduce((sum, { totals }) => sum + (totals[0] ?? 0), 0)).toBe(MCP.seriesMax * workers)
  })
})

describe('SeriesTable', () => {
  it('counts further series together when a family is full', () => {
    const buffer = createMetricsBuffer()
    const table = new SeriesTable(buffer)
    const slots = new Set<number>()
    for (let i = 0; i < MCP.seriesMax + 50; i++)
      slots.add(
        table.series(
          MCP,
          MCP.labels.map(() => `v${i}`),
        ),
      )
    expect(slots.size).toBe(MCP.seriesMax + 1)
    expect(new SeriesReader(buffer).overflows).toBe(50)
    expect(
      table.series(
        MCP,
        MCP.labels.map(() => 'v0'),
      ),
    ).toBe(
      table.series(
        MCP,
        MCP.labels.map(() => 'v0'),
      ),
    )
  })

  it('never writes beyond its memory', () => {
    const values = FAMILIES.reduce((sum, family) => sum + family.slots, 0) + EXCHANGE.slots * 2
    const buffer = createMetricsBuffer({ values, textBytes: 100_000 })
    const table = new SeriesTable(buffer)
    const slots = Array.from({ length: 10 }, (_, i) =>
      table.series(
        EXCHANGE,
        EXCHANGE.labels.map(() => String(i)),
      ),
    )
    expect(new Set(slots).size).toBe(3)
    for (const slot of slots) expect(slot + EXCHANGE.slots).toBeLessThanOrEqual(table.values.length)
    const small = new SeriesTable(createMetricsBuffer({ values: 100_000, textBytes: 3000 }))
    const long = Array.from({ length: 20 }, (_, i) =>
      small.series(
        EXCHANGE,
        EXCHANGE.labels.map(() => 'é'.repeat(90) + i),
      ),
    )
    expect(new Set(long).size).toBeLessThan(5)
  })

  it('cuts long label values instead of keeping them', () => {
    const buffer = createMetricsBuffer()
    const table = new SeriesTable(buffer)
    const long = EXCHANGE.labels.map(() => 'x'.repeat(100_000))
    expect(table.series(EXCHANGE, long)).toBe(
      table.series(
        EXCHANGE,
        EXCHANGE.labels.map(() => 'x'.repeat(200)),
      ),
    )
    expect(new SeriesReader(buffer).newSeries().at(-1)?.labels[0]).toHaveLength(128)
  })

  it('has room for all gauges', () => {
    const buffer = createMetricsBuffer()
    const table = new SeriesTable(buffer)
    GAUGES.forEach((name, i) => table.setGauge(name, i + 0.5))
    const reader = new SeriesReader(buffer)
    expect(GAUGES.map((name) => reader.gauge(name))).toEqual(GAUGES.map((_, i) => i + 0.5))
    expect(table.values[0]).toBe(0)
  })
})
