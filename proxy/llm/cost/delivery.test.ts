// The cost of real calls: in metrics, spans and the configuration dump, with a catalog that changes while two workers
// serve.
// @module-tag full
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Policy } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { httpCollector, type ReceivedSpan, type TestCollector } from '#proxy/otlp/collector.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import type { ModelRates } from './catalog.ts'
import { offeredCatalog } from './offered-catalog.ts'

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } }
const ANSWER = JSON.stringify({ model: 'gpt-5-2025', choices: [], usage: USAGE })
const STREAM = `data: {"model":"gpt-5-2025","choices":[],"usage":${JSON.stringify(USAGE)}}\n\ndata: [DONE]\n\n`

let upstream: Server
let collector: TestCollector
let gateway: TestProxy

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const isStream = request.headers['x-stream'] !== undefined
    const type = isStream ? 'text/event-stream' : 'application/json'
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': type }).end(isStream ? STREAM : ANSWER)
    })
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  collector = await httpCollector()
  const tracing: Policy = {
    key: 'tracing',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'tracing' },
    target: { gateway: { namespace: 'ns', name: 'gw' } },
    policy: {
      frontend: {
        tracing: { target: { service: { backend: 'ns/collector' }, protocol: 'HTTP' }, randomSampling: '1.0' },
      },
    },
  }
  const ai = { groups: [{ providers: [{ name: 'backend', provider: { openai: {} }, hostOverride }] }] }
  gateway = await testProxy({
    workers: 2,
    policies: [tracing],
    routes: [
      { name: 'openai', prefix: '/v1', backend: { ai } },
      { name: 'collector', prefix: '/collector', backend: { static: { host: '127.0.0.1', port: collector.port } } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  collector.stop()
  closeServer(upstream)
})

function price(rates: ModelRates): void {
  const catalog = new Map([['openai', new Map([['gpt-5', { rates, tiers: undefined, tags: [] }]])]])
  gateway.proxy.setModelCatalog(offeredCatalog([{ name: 'prices.json', catalog }]))
}

async function ask(headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] })
  // Each on its own connection, so that both workers serve some.
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body,
  })
  expect(response.status).toBe(200)
  await response.text()
}

async function sumOf(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

async function grows(name: string, by: number, of: () => Promise<void>): Promise<void> {
  const before = await sumOf(name)
  await of()
  await expect.poll(async () => ((await sumOf(name)) - before).toFixed(9), { timeout: 5000 }).toBe(by.toFixed(9))
}

async function times(count: number, run: () => Promise<void>): Promise<void> {
  for (let i = 0; i < count; i++) await run()
}

it('prices calls by the catalog of the moment on all workers', { timeout: 60_000 }, async () => {
  const cost = 'gw_gen_ai_client_cost_usd_total'
  await grows('gw_cost_catalog_lookups_total{status="NoCatalog"', 8, () => times(8, ask))
  expect(await sumOf(cost)).toBe(0)
  price({ input: 1_000_000n, cacheRead: 500_000n, output: 10_000_000n })
  // 600 tokens of input, 400 of the cache, 100 of output.
  await grows(cost, 8 * (0.0006 + 0.0002 + 0.001), () => times(8, ask))
  await grows(cost, 0.0018, () => ask({ 'x-stream': '1' }))
  price({ input: 2_000_000n, output: 10_000_000n })
  await grows(cost, 8 * (0.002 + 0.001), () => times(8, ask))
  await grows('gw_cost_catalog_lookups_total{status="Exact"', 1, ask)
  price({})
  await grows('gw_cost_catalog_lookups_total{status="Unpriced"', 1, ask)
})

it('shows the sources of the catalog in the configuration dump', async () => {
  price({ input: 1n })
  const dump = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/config_dump`)).json()
  const modelCatalog = { models: 1, sources: [{ name: 'prices.json', models: 1 }] }
  expect(dump).toMatchObject({ config: { modelCatalog } })
})

it('adds the parts of the cost to spans', { timeout: 30_000 }, async () => {
  price({ input: 1_000_000n, cacheRead: 500_000n, output: 10_000_000n })
  await ask({ 'x-stream': '1' })
  const priced = (): ReceivedSpan | undefined =>
    collector.spans.find(({ attributes }) => attributes['gw.ai.usage.cost.cache_read'] !== undefined)
  await expect.poll(priced, { timeout: 20_000 }).toMatchObject({
    attributes: {
      'gw.ai.usage.cost.total': 0.0018,
      'gw.ai.usage.cost.input': 0.0006,
      'gw.ai.usage.cost.output': 0.001,
      'gw.ai.usage.cost.cache_read': 0.0002,
      'gw.ai.usage.cost.reasoning': 0,
    },
  })
})
