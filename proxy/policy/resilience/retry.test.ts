import { afterEach, describe, expect, it } from 'vitest'
import type { Retry, TrafficPayload } from '#api/ir/types.gen.ts'
import { freePort } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import {
  inTurn,
  reset,
  scriptedUpstream,
  servedBy,
  silence,
  status,
  type Script,
  type ScriptedUpstream,
} from '../../backend/scripted-upstream.testing.ts'
import { HeaderList } from '../../message/headers.ts'
import { HttpResponse } from '../../message/message.ts'
import { environmentOf, exchangeOf, runRequest } from '../exchange.testing.ts'
import { compileRetry, isRetryable } from './retry.ts'
import { REPLAY_BYTES_MAX } from '../../backend/second-try.ts'
import { Replay } from './replay.ts'

const KIB_64 = REPLAY_BYTES_MAX
const CODES: Retry = { attempts: 1, codes: [503] }

describe('compileRetry', () => {
  const environment = environmentOf()

  it.each<[string, Retry, boolean]>([
    ['no precondition', CODES, true],
    ['a true one', { ...CODES, precondition: 'request.method == "GET"' }, true],
    ['a false one', { ...CODES, precondition: 'request.method == "POST"' }, false],
    ['a precondition that is not a boolean', { ...CODES, precondition: '1' }, false],
    ['a broken one', { ...CODES, precondition: 'request.' }, false],
  ])('marks the request: %s', (_, retry, isMarked) => {
    const exchange = exchangeOf()
    expect(runRequest(compileRetry(retry, environment), exchange)).toBeUndefined()
    expect(exchange.retry !== undefined).toBe(isMarked)
  })

  it('reads bodies only if an expression does', () => {
    expect(compileRetry(CODES, environment).readsRequestBody).toBe(false)
    expect(compileRetry({ ...CODES, precondition: 'request.body == b"x"' }, environment).readsRequestBody).toBe(true)
    const exchange = exchangeOf()
    runRequest(compileRetry({ ...CODES, condition: 'response.body == b"x"' }, environment), exchange)
    expect(exchange.retry?.readsResponseBody).toBe(true)
  })
})

describe('isRetryable', () => {
  const retry = {
    attempts: 1,
    codes: new Set([503]),
    backoffMs: undefined,
    condition: undefined,
    readsResponseBody: false,
  }

  it.each([
    ['dnsFailure', true],
    ['upstreamFailure', true],
    ['upstreamTimeout', true],
    ['requestTimeout', false],
    ['overloaded', false],
    ['noHealthyBackends', false],
    ['rateLimited', false],
    ['authorizationFailed', false],
    ['backendAuthFailed', false],
  ] as const)('%s: %s', (code, expected) => {
    const exchange = exchangeOf()
    exchange.fail(code)
    expect(isRetryable(retry, exchange)).toBe(expected)
  })

  it('is false for responses of the proxy itself, whatever the status', () => {
    const exchange = exchangeOf()
    exchange.response = HttpResponse.local(503, 'x')
    expect(isRetryable(retry, exchange)).toBe(false)
    exchange.response = new HttpResponse(503, new HeaderList(), undefined, false)
    expect(isRetryable(retry, exchange)).toBe(true)
    exchange.response = new HttpResponse(500, new HeaderList(), undefined, false)
    expect(isRetryable(retry, exchange)).toBe(false)
  })
})

describe('on a real proxy', () => {
  const stops: (() => Promise<void> | void)[] = []

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
    const upstream = await scriptedUpstream(script)
    stops.push(() => upstream.stop())
    return upstream
  }

  async function gatewayOf(inline: TrafficPayload, ...ports: readonly number[]): Promise<TestProxy> {
    const gateway = await testProxy({
      routes: [{ name: 'r', prefix: '/', backend: { static: { host: '127.0.0.1', port: 1 } }, inline }],
      change: servedBy(...ports),
    })
    stops.unshift(() => gateway.stop())
    return gateway
  }

  async function metric({ proxy }: TestProxy, name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${proxy.ports.stats}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }

  const FAILING: Readonly<Record<string, Script>> = {
    'status 503': status(503, { connection: 'close' }),
    reset,
    silence,
  }

  const matrix = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'].flatMap((method) =>
    Object.keys(FAILING).flatMap((failure) =>
      (method === 'GET' || method === 'HEAD' ? [0] : [0, 1, KIB_64, KIB_64 + 1]).map(
        (size) => [method, failure, size] as const,
      ),
    ),
  )

  async function tries(
    gateway: TestProxy,
    upstream: ScriptedUpstream,
    [method, failure, size]: (typeof matrix)[number],
  ) {
    upstream.seen.length = 0
    // A reset on a reused connection is repeated by the pool itself.
    upstream.script = inTurn(FAILING[failure] ?? reset, status(200, { connection: 'close' }, 'fine'))
    const body = size === 0 ? null : 'x'.repeat(size)
    const response = await fetch(gateway.url, { method, body })
    const isRetried = size <= KIB_64
    const failed = failure === 'silence' ? 504 : 503
    expect(response.status).toBe(isRetried ? 200 : failed)
    if (isRetried) expect(await response.text()).toBe(method === 'HEAD' ? '' : 'fine')
    else await response.text()
    const attempts = upstream.seen.map(({ headers }) => headers['x-retry-attempt'])
    // A large body that is not repeated may not have arrived in full when the call times out.
    if (isRetried) expect(attempts).toEqual([undefined, '1'])
    else expect(attempts.filter((attempt) => attempt !== undefined)).toEqual([])
    for (const seen of upstream.seen) expect(seen).toMatchObject({ method, url: '/', body: body ?? '' })
  }

  it(
    'repeats every method after every failure, with bodies of up to 64 KiB',
    { tags: ['full'], timeout: 60_000 },
    async () => {
      const upstream = await upstreamOf(silence)
      // Long enough for a response on a busy machine, short enough to wait for fourteen times.
      const gateway = await gatewayOf({ retry: CODES, timeouts: { backendRequestMs: 700 } }, upstream.port)
      for (const one of matrix) await tries(gateway, upstream, one)
      expect(matrix.length).toBeGreaterThan(40)
    },
  )

  it('returns the last response after all tries, and counts them', async () => {
    const upstream = await upstreamOf(status(503, { 'x-last': 'yes' }, 'sorry'))
    const gateway = await gatewayOf({ retry: { attempts: 3, codes: [503] } }, upstream.port)
    const response = await fetch(gateway.url)
    expect([response.status, response.headers.get('x-last'), await response.text()]).toEqual([503, 'yes', 'sorry'])
    expect(upstream.seen.map(({ headers }) => headers['x-retry-attempt'])).toEqual([undefined, '1', '2', '3'])
    await expect.poll(() => metric(gateway, 'gw_retries_total')).toBe(3)
    await expect.poll(() => metric(gateway, 'gw_requests_total'), { timeout: 5000 }).toBe(1)
  })

  it('skips an endpoint that refuses connections', async () => {
    const upstream = await upstreamOf(status(200, {}, 'fine'))
    const gateway = await gatewayOf({ retry: { attempts: 20 } }, await freePort(), upstream.port)
    for (let i = 0; i < 20; i++) expect((await fetch(gateway.url)).status).toBe(200)
  })

  it('retries by the condition, which may read the body of the response', async () => {
    const upstream = await upstreamOf(inTurn(status(200, {}, 'again'), status(200, {}, 'fine')))
    const gateway = await gatewayOf(
      { retry: { attempts: 5, condition: 'string(response.body) == "again" && request.method == "GET"' } },
      upstream.port,
    )
    expect(await (await fetch(gateway.url)).text()).toBe('fine')
    expect(upstream.seen).toHaveLength(2)
  })

  it("repeats the backend phase with the request from after the route's policies", async () => {
    const upstream = await upstreamOf(inTurn(reset, status(503), status(200)))
    const gateway = await testProxy({
      routes: [
        {
          name: 'r',
          prefix: '/',
          backend: { static: { host: '127.0.0.1', port: 1 } },
          inline: {
            retry: { attempts: 2, codes: [503] },
            requestHeaderModifier: { add: [{ name: 'x-route', value: 'r' }] },
          },
          backendInline: {
            requestHeaderModifier: { add: [{ name: 'x-backend', value: 'b' }] },
            urlRewrite: { path: { prefix: '/deep' } },
          },
        },
      ],
      change: servedBy(upstream.port),
    })
    stops.unshift(() => gateway.stop())
    expect((await fetch(`${gateway.url}/a?q=1`)).status).toBe(200)
    for (const { url, headers } of upstream.seen) {
      expect([url, headers['x-route'], headers['x-backend']]).toEqual(['/deep/a?q=1', 'r', 'b'])
    }
    expect(upstream.seen).toHaveLength(3)
  })

  it('starts again with the scheme of the client', async () => {
    const exchange = exchangeOf()
    const before = exchange.request.scheme
    runRequest(compileRetry({ attempts: 1, codes: [503] }, environmentOf()), exchange)
    const { retry } = exchange
    if (retry === undefined) throw new Error('no retry')
    const replay = new Replay(exchange, retry, undefined)
    exchange.request.scheme = before === 'http' ? 'https' : 'http'
    exchange.response = new HttpResponse(503, HeaderList.of([]), undefined, false)
    await new Promise<void>((again, fail) => {
      replay.ended(exchange, { again: () => again(), finish: () => fail(new Error('finished')) })
    })
    expect(exchange.request.scheme).toBe(before)
  })

  it('returns 504 if the wait would exceed the deadline', async () => {
    const upstream = await upstreamOf(status(503))
    const gateway = await gatewayOf(
      { retry: { attempts: 5, codes: [503], backoffMs: 60_000 }, timeouts: { requestMs: 30_000 } },
      upstream.port,
    )
    const response = await fetch(gateway.url)
    expect([response.status, await response.text()]).toEqual([504, 'request timeout'])
    expect(upstream.seen).toHaveLength(1)
  })

  it('does not retry the route timeout', async () => {
    const upstream = await upstreamOf(silence)
    // Long enough for the first try to reach the server.
    const gateway = await gatewayOf({ retry: { attempts: 5 }, timeouts: { requestMs: 1000 } }, upstream.port)
    expect(await (await fetch(gateway.url)).text()).toBe('request timeout')
    expect(upstream.seen).toHaveLength(1)
  })

  it('stops if the client disconnects during the wait', async () => {
    const upstream = await upstreamOf(status(503))
    const gateway = await gatewayOf({ retry: { attempts: 5, codes: [503], backoffMs: 60_000 } }, upstream.port)
    const leaving = new AbortController()
    const call = fetch(gateway.url, { signal: leaving.signal })
    await expect.poll(() => upstream.seen.length).toBe(1)
    leaving.abort()
    await expect(call).rejects.toThrow('abort')
    await expect.poll(() => metric(gateway, 'gw_requests_total')).toBe(1)
    expect(upstream.seen).toHaveLength(1)
  })

  it('never repeats direct responses', async () => {
    const gateway = await gatewayOf({ retry: CODES, directResponse: { status: 503, body: 'mine' } }, await freePort())
    expect(await (await fetch(gateway.url)).text()).toBe('mine')
    expect(await metric(gateway, 'gw_retries_total')).toBe(0)
  })

  it('streams large bodies without buffering them', async () => {
    const upstream = await upstreamOf(status(200, {}, 'fine'))
    const gateway = await gatewayOf({ retry: CODES }, upstream.port)
    const chunks = Array.from({ length: 20 }, () => Buffer.alloc(10_000, 'y'))
    const body = ReadableStream.from(chunks)
    const response = await fetch(gateway.url, { method: 'POST', body, duplex: 'half' })
    expect(response.status).toBe(200)
    expect(upstream.seen[0]?.body).toHaveLength(200_000)
  })
})
