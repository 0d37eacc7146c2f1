import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { RequestMirror } from '#api/ir/types.gen.ts'
import { freePort } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import {
  reset,
  scriptedUpstream,
  silence,
  status,
  type Script,
  type ScriptedUpstream,
} from '../../backend/scripted-upstream.testing.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf, upstreamResponse } from '../exchange.testing.ts'
import { compileMirrors, MIRRORS_MAX, type Mirror } from './mirror.ts'

/** A mirror that records its requests, and the callbacks that answer them. */
function kept(numerator = 1, denominator = 1): { mirror: Mirror; sent: Exchange[]; answer: () => void } {
  const sent: Exchange[] = []
  const pending: (() => void)[] = []
  const mirror: Mirror = {
    numerator,
    denominator,
    filters: [],
    handler: (exchange, done) => {
      sent.push(exchange)
      pending.push(() => {
        exchange.response = upstreamResponse()
        done(exchange)
      })
    },
  }
  return {
    mirror,
    sent,
    answer: () => {
      for (const one of pending.splice(0)) one()
    },
  }
}

describe('compileMirrors', () => {
  it('does nothing without mirrors', () => {
    expect(compileMirrors([], { random: () => 0, called: () => undefined })).toBeUndefined()
  })

  it('copies the request without its body, as an independent copy', () => {
    const { mirror, sent, answer } = kept()
    const durations: number[] = []
    const send = compileMirrors([mirror], { random: () => 0, called: (ms) => durations.push(ms) })
    const headers = [
      ['content-length', '3'],
      ['x-a', 'b'],
      ['expect', '100-continue'],
    ] as const
    const exchange = exchangeOf({ method: 'POST', path: '/p', query: 'q=1', headers, body: 'abc' })
    send?.(exchange)
    exchange.request.headers.set('x-a', 'changed')
    const [copy] = sent
    expect([copy?.request.method, copy?.request.pathAndQuery, copy?.request.body]).toEqual([
      'POST',
      '/p?q=1',
      undefined,
    ])
    expect(copy?.request.headers.fields).toEqual(['x-a', 'b'])
    expect(durations).toEqual([])
    answer()
    expect(durations).toHaveLength(1)
  })

  it.each([
    [0, 100, 0.0, false],
    [100, 100, 0.999, true],
    [50, 100, 0.49, true],
    [50, 100, 0.5, false],
    [1, 3, 0.33, true],
    [1, 3, 0.34, false],
  ])('%i of %i with the dice at %f: %s', (numerator, denominator, dice, isSent) => {
    const { mirror, sent, answer } = kept(numerator, denominator)
    compileMirrors([mirror], { random: () => dice, called: () => undefined })?.(exchangeOf())
    expect(sent).toHaveLength(isSent ? 1 : 0)
    answer()
  })

  it('limits concurrent copies, and continues when they are answered', () => {
    const { mirror, sent, answer } = kept()
    const send = compileMirrors([mirror, mirror], { random: () => 0, called: () => undefined })
    for (let i = 0; i < MIRRORS_MAX; i++) send?.(exchangeOf())
    expect(sent).toHaveLength(MIRRORS_MAX)
    answer()
    send?.(exchangeOf())
    expect(sent).toHaveLength(MIRRORS_MAX + 2)
    answer()
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

  const all = (name: string): RequestMirror => ({ ref: { backend: `ns/${name}` }, numerator: 1, denominator: 1 })
  const at = (port: number): TestRoute['backend'] => ({ static: { host: '127.0.0.1', port } })

  async function gatewayOf(routes: readonly TestRoute[]): Promise<TestProxy> {
    const gateway = await testProxy({ routes })
    stops.unshift(() => gateway.stop())
    return gateway
  }

  it('sends copies to the mirrors of route and backend, and responds from the backend alone', async () => {
    const main = await upstreamOf(status(200, {}, 'main'))
    const shadow = await upstreamOf(status(500, {}, 'shadow'))
    const other = await upstreamOf(status(200, {}, 'other'))
    const gateway = await gatewayOf([
      {
        name: 'r',
        prefix: '/',
        backend: at(main.port),
        inline: { requestMirror: [all('shadow')], requestHeaderModifier: { set: [{ name: 'x-route', value: 'r' }] } },
        backendInline: { requestMirror: [all('other')] },
      },
      { name: 'shadow', prefix: '/none-1', backend: at(shadow.port) },
      { name: 'other', prefix: '/none-2', backend: at(other.port) },
    ])
    const response = await fetch(`${gateway.url}/path?q=1`, { method: 'POST', body: 'secret' })
    expect([response.status, await response.text()]).toEqual([200, 'main'])
    await expect.poll(() => [shadow.seen.length, other.seen.length]).toEqual([1, 1])
    for (const { seen } of [shadow, other]) {
      expect(seen[0]).toMatchObject({ method: 'POST', url: '/path?q=1', body: '', headers: { 'x-route': 'r' } })
    }
    expect(main.seen[0]?.body).toBe('secret')
    const metrics = async (): Promise<string> =>
      await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
    await expect.poll(metrics).toMatch(/gw_upstream_call_duration_seconds_count\{kind="Mirror",subtype="Http"\} 2/)
  })

  it('copies the configured share, within six standard deviations', { tags: ['full'] }, async () => {
    const main = await upstreamOf(status(200))
    const shadow = await upstreamOf(status(200))
    const gateway = await gatewayOf([
      {
        name: 'r',
        prefix: '/',
        backend: at(main.port),
        inline: { requestMirror: [{ ...all('shadow'), denominator: 2 }] },
      },
      { name: 'shadow', prefix: '/none', backend: at(shadow.port) },
    ])
    const requests = 400
    for (let i = 0; i < requests; i += 20) {
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(gateway.url)).text()))
    }
    expect(main.seen).toHaveLength(requests)
    const isPlausible = (): boolean => Math.abs(shadow.seen.length - requests / 2) < 6 * Math.sqrt(requests / 4)
    await expect.poll(isPlausible).toBe(true)
  })

  it.each<[string, Script]>([
    ['resets', reset],
    ['never answers', silence],
  ])('neither delays nor fails if a mirror %s', async (_, script) => {
    const main = await upstreamOf(status(200, {}, 'main'))
    const shadow = await upstreamOf(script)
    const gateway = await gatewayOf([
      { name: 'r', prefix: '/', backend: at(main.port), inline: { requestMirror: [all('shadow')] } },
      { name: 'shadow', prefix: '/none', backend: at(shadow.port) },
    ])
    for (let i = 0; i < 10; i++) expect(await (await fetch(gateway.url)).text()).toBe('main')
    await expect.poll(() => shadow.seen.length).toBe(10)
  })

  it('ignores mirrors that refuse connections, have no backend or are broken references', async () => {
    const main = await upstreamOf(status(200, {}, 'main'))
    const invalid: RequestMirror = { ...all('r'), ref: { invalid: { reason: 'BackendNotFound', message: 'm' } } }
    const gateway = await gatewayOf([
      {
        name: 'r',
        prefix: '/',
        backend: at(main.port),
        inline: { requestMirror: [all('closed'), all('missing'), invalid] },
      },
      { name: 'closed', prefix: '/none', backend: at(await freePort()) },
    ])
    for (let i = 0; i < 3; i++) expect(await (await fetch(gateway.url)).text()).toBe('main')
  })

  it('cuts an endless response and sends the next copy', { tags: ['full'] }, async () => {
    const main = await upstreamOf(status(200, {}, 'main'))
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(200_000)}`))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stops.push(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const gateway = await gatewayOf([
      { name: 'r', prefix: '/', backend: at(main.port), inline: { requestMirror: [all('endless')] } },
      { name: 'endless', prefix: '/none', backend: at(port) },
    ])
    for (let i = 0; i < 3; i++) expect(await (await fetch(gateway.url)).text()).toBe('main')
    await expect.poll(() => connections).toBe(3)
    const open = (): Promise<number> => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
    await expect.poll(open).toBe(0)
  })
})
