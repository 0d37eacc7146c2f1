// A request is charged once, with the tokens that are known at its end: over failover, retries and an abort of the
// client. Tokens by a local limit, tokens and dollars by a global limit, dollars by the metric.
// @module-tag full
import { create } from '@bufbuild/protobuf'
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { AIProvider, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { RateLimitResponseSchema, RateLimitService } from '../../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { grpcServer, unaryMethod } from '../../grpc/server.testing.ts'
import { offeredCatalog } from './offered-catalog.ts'

const LIMIT = 1000
const USAGE = { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 10 }
const START = { type: 'message_start', message: { model: 'm', usage: { ...USAGE, output_tokens: 1 } } }
const ANSWER = JSON.stringify({ type: 'message', role: 'assistant', model: 'm', content: [], usage: USAGE })

let upstream: Server
let gateway: TestProxy
let answers: ((response: ServerResponse) => void)[] = []
let limiter: Awaited<ReturnType<typeof grpcServer>>
/** Hits that the service of global limits got, such as `tokens=35`. */
let charges: string[] = []

const json = (status: number, body: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}
const whole = json(200, ANSWER)
const failed = json(503, JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }))
/** Begins a stream that never ends. */
const endless = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(`event: message_start\ndata: ${JSON.stringify(START)}\n\n`)
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume().on('end', () => (answers.shift() ?? whole)(response))
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  limiter = await grpcServer([
    unaryMethod(RateLimitService.method.shouldRateLimit, ({ request }, reply) => {
      charges.push(...request.descriptors.map(({ entries, hitsAddend }) => `${entries[0]?.key ?? ''}=${hitsAddend}`))
      reply(null, create(RateLimitResponseSchema, { overallCode: 1 }))
    }),
  ])
  const provider = (name: string): AIProvider => ({ name, provider: { anthropic: {} }, hostOverride })
  const limits: TrafficPayload = {
    rateLimit: { limits: [{ unit: 'Tokens', tokensPerFill: LIMIT, fillIntervalMs: 3_600_000, tokensMax: LIMIT }] },
    rateLimitGlobal: {
      service: { backend: 'ns/limiter' },
      domain: 'llm',
      failureMode: 'FailClosed',
      descriptors: [
        { unit: 'Tokens', entries: [{ name: 'tokens', expression: '"all"' }] },
        {
          unit: 'Tokens',
          entries: [{ name: 'micros', expression: '"all"' }],
          cost: 'math.ceil(llm.cost.total * 1000000.0)',
        },
      ],
    },
  }
  const route = (name: string, groups: readonly string[], more: TrafficPayload = {}): TestRoute => ({
    name,
    prefix: `/${name}`,
    inline: { ...limits, ...more },
    backend: {
      ai: { groups: groups.map((one) => ({ providers: [provider(one)] })) },
      inlinePolicies: { ai: { routes: { '*': 'Messages' } } },
    },
  })
  gateway = await testProxy({
    routes: [
      route('failover', ['first', 'second']),
      route('retried', ['only'], { retry: { attempts: 2, codes: [503] } }),
      route('aborted', ['only']),
      route('rejected', ['only']),
      { name: 'limiter', prefix: '/limiter', backend: { static: { host: '127.0.0.1', port: limiter.port } } },
    ],
  })
  const rates = { input: 1_000_000n, output: 10_000_000n }
  const catalog = new Map([['anthropic', new Map([['m', { rates, tiers: undefined, tags: [] }]])]])
  gateway.proxy.setModelCatalog(offeredCatalog([{ name: 'prices', catalog }]))
})

beforeEach(() => {
  answers = []
  charges = []
})

afterAll(async () => {
  await gateway.stop()
  limiter.kill()
  closeServer(upstream)
})

const BODY = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })
const HEADERS = { 'content-type': 'application/json' }

/** The tokens that are left before this request. */
async function leftBefore(path: string): Promise<{ readonly status: number; readonly left: number }> {
  const { status, headers } = await fetch(`${gateway.url}/${path}`, { method: 'POST', headers: HEADERS, body: BODY })
  return { status, left: Number(headers.get('x-ratelimit-remaining')) }
}

async function dollarsOf(route: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
  const isOf = (line: string): boolean =>
    line.startsWith('gw_gen_ai_client_cost_usd_total') && line.includes(`route="ns/${route}"`)
  const lines = text.split('\n').filter(isOf)
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** What the global limits got for all requests. */
const charged = (): string[] => charges.filter((one) => !one.endsWith('=0'))

/** 25 input tokens and 10 output tokens. */
const WHOLE = { tokens: 35, dollars: 0.000125 }

it.each([
  ['failover', [failed, whole]],
  ['retried', [failed, failed, whole]],
  ['rejected', [failed, whole]],
])('charges the try that was answered, and no failed one: %s', async (path, script) => {
  answers = [...script]
  if (path === 'rejected') expect(await leftBefore(path)).toEqual({ status: 503, left: LIMIT })
  expect(await leftBefore(path)).toEqual({ status: 200, left: LIMIT })
  await expect.poll(() => dollarsOf(path), { timeout: 5000 }).toBeCloseTo(WHOLE.dollars, 12)
  await expect.poll(charged).toEqual([`tokens=${WHOLE.tokens}`, 'micros=125'])
  expect(await leftBefore(path)).toEqual({ status: 200, left: LIMIT - WHOLE.tokens })
  // The second answer is charged once as well.
  await expect.poll(charged).toHaveLength(4)
})

it('charges the tokens that a stream reported before the client closed it', async () => {
  answers = [endless]
  await new Promise<void>((resolve, reject) => {
    const request = httpRequest(`${gateway.url}/aborted`, { method: 'POST', headers: HEADERS }, (response) => {
      response.once('data', () => {
        request.destroy()
        resolve()
      })
    })
    request.on('error', reject).end(BODY.replace('"max_tokens"', '"stream":true,"max_tokens"'))
  })
  // 25 input tokens, and the one output token of the beginning.
  await expect.poll(() => dollarsOf('aborted'), { timeout: 5000 }).toBeCloseTo(0.000035, 12)
  await expect.poll(charged).toEqual(['tokens=26', 'micros=35'])
  expect(await leftBefore('aborted')).toEqual({ status: 200, left: LIMIT - 26 })
})
