// Health and eviction on a real proxy with real endpoints.
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import type { Health } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestProxyOptions } from '#proxy/main.testing.ts'
import {
  scriptedUpstream,
  servedBy,
  servicePolicy,
  status,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.testing.ts'

const MINUTES: Health = { eviction: { durationMs: 600_000 } }
const stops: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await scriptedUpstream(script)
  stops.push(() => upstream.stop())
  return upstream
}

async function gatewayOf(options: TestProxyOptions): Promise<TestProxy> {
  const gateway = await testProxy(options)
  stops.unshift(() => gateway.stop())
  return gateway
}

const routeToService = (inline?: TestProxyOptions['routes'][number]['inline']): TestProxyOptions['routes'] => [
  { name: 'r', prefix: '/', backend: { static: { host: '127.0.0.1', port: 1 } }, ...(inline && { inline }) },
]

function serviceGateway(health: Health, ports: readonly number[], workers = 1): Promise<TestProxy> {
  return gatewayOf({
    routes: routeToService(),
    policies: [servicePolicy({ health })],
    workers,
    change: servedBy(...ports),
  })
}

/** Each on a separate connection, so that all workers get some. */
async function statuses(url: string, count: number): Promise<number[]> {
  const answers: number[] = []
  for (let i = 0; i < count; i++) {
    const response = await fetch(url, { headers: { connection: 'close' } })
    await response.text()
    answers.push(response.status)
  }
  return answers
}

interface Info {
  readonly health: number
  readonly pendingRequests: number
  readonly totalRequests: number
  readonly consecutiveFailures: number
  readonly timesEjected: number
  readonly evictions: number
  readonly lastEviction: { readonly time: string; readonly rule: string; readonly status?: number } | null
  readonly evictedUntil: string | null
}

interface Dump {
  readonly services: readonly { readonly endpoints: readonly { readonly active: Record<string, { info: Info }> }[] }[]
  readonly backends: readonly {
    readonly backend: { readonly ai?: { target: { providers: { active: Record<string, { info: Info }> }[] } } }
  }[]
}

async function dumpOf({ proxy }: TestProxy): Promise<Dump> {
  const response = await fetch(`http://127.0.0.1:${proxy.ports.admin}/config_dump`)
  return (await response.json()) as Dump // the parts these tests read
}

async function infoOf(gateway: TestProxy, { port }: ScriptedUpstream): Promise<Info | undefined> {
  return (await dumpOf(gateway)).services[0]?.endpoints[0]?.active[`pod-${port}`]?.info
}

describe('a Service', () => {
  it('evicts a failing endpoint for all workers after its first failed response, and the dump reports it', async () => {
    const good = await upstreamOf(status(200))
    const bad = await upstreamOf(status(500))
    const gateway = await serviceGateway(MINUTES, [good.port, bad.port], 2)
    const answers = await statuses(gateway.url, 60)
    // One request at a time: the failing endpoint is selected exactly once, by any worker.
    expect(bad.seen).toHaveLength(1)
    expect(answers.filter((code) => code === 500)).toHaveLength(1)
    const info = await infoOf(gateway, bad)
    expect(info).toMatchObject({
      health: 0.7,
      totalRequests: 1,
      consecutiveFailures: 1,
      timesEjected: 1,
      evictions: 1,
      lastEviction: { rule: 'failure', failures: 1, status: 500 },
      pendingRequests: 0,
    })
    expect(Math.abs(Date.parse(info?.lastEviction?.time ?? '') - Date.now())).toBeLessThan(60_000)
    expect(Date.parse(info?.evictedUntil ?? '')).toBeGreaterThan(Date.now() + 500_000)
    await expect
      .poll(() => infoOf(gateway, good))
      .toMatchObject({ health: 1, totalRequests: 59, timesEjected: 0, pendingRequests: 0, evictedUntil: null })
  })

  it('keeps evictions in a new configuration', async () => {
    const good = await upstreamOf(status(200))
    const bad = await upstreamOf(status(500))
    const gateway = await serviceGateway(MINUTES, [good.port, bad.port])
    await statuses(gateway.url, 30)
    const third = await upstreamOf(status(200))
    const config = servedBy(third.port, good.port, bad.port)(gateway.config)
    expect(await gateway.proxy.apply(config, { version: 1, secrets: [] })).toMatchObject({ warnings: [] })
    expect(await statuses(gateway.url, 30)).toEqual(Array.from({ length: 30 }, () => 200))
    expect(bad.seen).toHaveLength(1)
    expect(third.seen.length).toBeGreaterThan(0)
    expect(await infoOf(gateway, bad)).toMatchObject({ timesEjected: 1 })
  })

  it('restores a flapping endpoint when its time is over', { tags: ['full'] }, async () => {
    const good = await upstreamOf(status(200))
    const flapping = await upstreamOf(status(500))
    const health = { eviction: { durationMs: 100, restoreHealth: 100 } }
    const gateway = await serviceGateway(health, [good.port, flapping.port])
    await expect.poll(async () => (await statuses(gateway.url, 1))[0]).toBe(500)
    flapping.script = status(200)
    await expect
      .poll(async () => {
        await statuses(gateway.url, 1)
        return flapping.seen.length
      })
      .toBeGreaterThan(1)
    await expect
      .poll(() => infoOf(gateway, flapping))
      .toMatchObject({ health: 1, consecutiveFailures: 0, timesEjected: 0, evictedUntil: null })
    expect((await infoOf(gateway, flapping))?.evictions).toBeGreaterThan(0)
  })

  it('is served by evicted endpoints if all are evicted', { tags: ['full'] }, async () => {
    const only = await upstreamOf(status(500))
    const other = await upstreamOf(status(500))
    const gateway = await serviceGateway(MINUTES, [only.port, other.port])
    expect(await statuses(gateway.url, 20)).toEqual(Array.from({ length: 20 }, () => 500))
    expect(only.seen.length + other.seen.length).toBe(20)
    expect(await infoOf(gateway, only)).toMatchObject({ timesEjected: 1 })
  })

  it('evicts an unresponsive endpoint after the timeout of the call', async () => {
    const sockets: Socket[] = []
    const hole = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
    })
    hole.listen(0, '127.0.0.1')
    await once(hole, 'listening')
    stops.push(() => {
      for (const socket of sockets) socket.destroy()
      hole.close()
    })
    const address = hole.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const good = await upstreamOf(status(200))
    const gateway = await gatewayOf({
      routes: routeToService({ timeouts: { backendRequestMs: 100 } }),
      policies: [servicePolicy({ health: MINUTES })],
      change: servedBy(good.port, port),
    })
    const answers = await statuses(gateway.url, 30)
    expect(answers.filter((code) => code === 504)).toHaveLength(1)
    expect(answers.filter((code) => code === 200)).toHaveLength(29)
    expect(sockets).toHaveLength(1)
    const active = (await dumpOf(gateway)).services[0]?.endpoints[0]?.active
    expect(active?.[`pod-${port}`]?.info.lastEviction).toEqual({
      time: expect.any(String),
      rule: 'failure',
      failures: 1,
    })
  })

  it('evicts for as long as a 429 requires', async () => {
    const good = await upstreamOf(status(200))
    const limited = await upstreamOf(status(429, { 'retry-after': '500' }))
    const gateway = await serviceGateway({ unhealthyCondition: 'response.code == 429' }, [good.port, limited.port])
    await expect.poll(async () => (await statuses(gateway.url, 1))[0]).toBe(429)
    expect(await statuses(gateway.url, 20)).not.toContain(429)
    const until = Date.parse((await infoOf(gateway, limited))?.evictedUntil ?? '')
    expect(Math.abs(until - Date.now() - 500_000)).toBeLessThan(60_000)
  })

  it('reads the body of responses if the condition does', { tags: ['full'] }, async () => {
    const good = await upstreamOf(status(200, {}, 'fine'))
    const bad = await upstreamOf(status(200, {}, 'broken'))
    const unhealthyCondition = 'string(response.body) == "broken"'
    const gateway = await serviceGateway({ ...MINUTES, unhealthyCondition }, [good.port, bad.port])
    await statuses(gateway.url, 30)
    expect(bad.seen).toHaveLength(1)
  })

  it('does not count clients that disconnect as failures of an endpoint', async () => {
    const upstream = await upstreamOf((response) => {
      response.write('a beginning')
    })
    const gateway = await serviceGateway(MINUTES, [upstream.port])
    for (let i = 0; i < 3; i++) {
      const leaving = new AbortController()
      const response = await fetch(gateway.url, { signal: leaving.signal })
      expect(response.status).toBe(200)
      leaving.abort()
    }
    await expect
      .poll(() => infoOf(gateway, upstream))
      .toMatchObject({ totalRequests: 3, pendingRequests: 0, consecutiveFailures: 0, timesEjected: 0 })
  })

  it('hides a failing endpoint from clients by retries', { tags: ['full'] }, async () => {
    const good = await upstreamOf(status(200))
    const bad = await upstreamOf(status(503))
    const gateway = await gatewayOf({
      routes: routeToService({ retry: { attempts: 1, codes: [503] } }),
      policies: [servicePolicy({ health: MINUTES })],
      change: servedBy(good.port, bad.port),
    })
    expect(await statuses(gateway.url, 30)).toEqual(Array.from({ length: 30 }, () => 200))
    expect(bad.seen).toHaveLength(1)
  })
})

describe('an AI backend', () => {
  const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  const answer = status(
    200,
    { 'content-type': 'application/json' },
    JSON.stringify({
      id: '1',
      object: 'chat.completion',
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    }),
  )

  async function aiGateway(health: Health, groups: readonly (readonly ScriptedUpstream[])[]): Promise<TestProxy> {
    const ai = {
      groups: groups.map((group, index) => ({
        providers: group.map(({ port }, at) => ({
          name: `g${index}-${at}`,
          provider: { openai: { model: 'm' } },
          hostOverride: { host: '127.0.0.1', port },
        })),
      })),
    }
    return gatewayOf({ routes: [{ name: 'r', prefix: '/', backend: { ai }, backendInline: { health } }] })
  }

  async function chat(gateway: TestProxy): Promise<number> {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body: CHAT, headers })
    await response.text()
    return response.status
  }

  it('uses the next group if all providers of one are evicted, and shows it', async () => {
    const first = await upstreamOf(status(500, { 'content-type': 'application/json' }, '{}'))
    const second = await upstreamOf(status(500, { 'content-type': 'application/json' }, '{}'))
    const spare = await upstreamOf(answer)
    const gateway = await aiGateway(MINUTES, [[first, second], [spare]])
    const answers: number[] = []
    for (let i = 0; i < 10; i++) answers.push(await chat(gateway))
    expect(answers).toEqual(Array.from({ length: 10 }, () => 200))
    expect([first.seen.length, second.seen.length, spare.seen.length]).toEqual([1, 1, 10])
    const providers = (await dumpOf(gateway)).backends[0]?.backend.ai?.target.providers
    expect(providers?.[0]?.active['g0-0']?.info).toMatchObject({ timesEjected: 1, totalRequests: 1 })
    expect(providers?.[1]?.active['g1-0']?.info).toMatchObject({ timesEjected: 0, evictedUntil: null })
  })

  it('tries every provider if all are evicted', { tags: ['full'] }, async () => {
    const bad = status(500, { 'content-type': 'application/json' }, '{}')
    const first = await upstreamOf(bad)
    const spare = await upstreamOf(bad)
    const gateway = await aiGateway(MINUTES, [[first], [spare]])
    for (let i = 0; i < 6; i++) expect(await chat(gateway)).toBe(500)
    expect([first.seen.length, spare.seen.length]).toEqual([6, 6])
  })

  it('fails over on 429 with Retry-After', { tags: ['full'] }, async () => {
    const limited = await upstreamOf(status(429, { 'retry-after': '100', 'content-type': 'application/json' }, '{}'))
    const spare = await upstreamOf(answer)
    const gateway = await aiGateway({ unhealthyCondition: 'response.code == 429' }, [[limited], [spare]])
    expect([await chat(gateway), await chat(gateway), await chat(gateway)]).toEqual([200, 200, 200])
    expect([limited.seen.length, spare.seen.length]).toEqual([1, 3])
  })

  it('fails over within one request, and retries need no more than that', async () => {
    const bad = await upstreamOf(status(500, { 'content-type': 'application/json' }, '{}'))
    const spare = await upstreamOf(answer)
    const gateway = await aiGateway(MINUTES, [[bad], [spare]])
    const retried = {
      ...gateway.config,
      routes: gateway.config.routes.map((route) => ({
        ...route,
        inlinePolicies: { retry: { attempts: 1, codes: [500] } },
      })),
    }
    await gateway.proxy.apply(retried, { version: 1, secrets: [] })
    expect(await chat(gateway)).toBe(200)
    expect([bad.seen.length, spare.seen.length]).toEqual([1, 1])
  })
})
