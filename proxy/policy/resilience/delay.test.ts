import { describe, expect, it, vi } from 'vitest'
import { testProxy } from '#proxy/main.testing.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileDelay } from './delay.ts'
import { environmentOf, exchangeOf } from '../exchange.testing.ts'
import type { Verdict } from '../../chain/filter.ts'

/** Runs the filter on a clock that jumps to the next timer; returns the wait in milliseconds. */
async function waited(text: { ms?: number; expression?: string }, exchange: Exchange): Promise<[number, Verdict]> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const verdict = compileDelay(text, environmentOf()).request?.(exchange)
    await vi.runAllTimersAsync()
    const ms = timers.mock.calls[0]?.[1] ?? 0
    return [ms, await verdict]
  } finally {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
}

describe('compileDelay', () => {
  it.each<[{ ms?: number; expression?: string }, number]>([
    [{ ms: 0 }, 0],
    [{ ms: 1 }, 1],
    [{ ms: 500 }, 500],
    [{ ms: 3_600_001 }, 3_600_000],
    [{ expression: 'duration("2s")' }, 2000],
    [{ expression: 'duration("-2s")' }, 0],
    [{ expression: '250' }, 250],
    [{ expression: '250u' }, 250],
    [{ expression: '2.5' }, 2.5],
    [{ expression: '-1' }, 0],
    [{ expression: '0.0/0.0' }, 0],
    [{ expression: '"500ms"' }, 0],
    [{ expression: 'request.nonsense' }, 0],
    [{ expression: 'request.' }, 0],
    [{ expression: 'request.path == "/slow" ? 70 : 0' }, 70],
  ])('%o waits %f ms', async (delay, ms) => {
    expect(await waited(delay, exchangeOf({ path: '/slow' }))).toEqual([ms, undefined])
  })

  it('returns 504 at the deadline', async () => {
    const exchange = exchangeOf()
    exchange.deadlineMs = performance.now() + 1000
    const [ms, verdict] = await waited({ ms: 5000 }, exchange)
    expect(ms).toBeLessThanOrEqual(1000)
    expect(ms).toBeGreaterThan(900)
    expect(verdict).toMatchObject({ status: 504, body: 'request timeout' })
  })

  it('ends when the client disconnects', async () => {
    const exchange = exchangeOf()
    const verdict = compileDelay({ ms: 3_600_000 }, environmentOf()).request?.(exchange)
    expect(exchange.upstreamCall).toBeDefined()
    exchange.upstreamCall?.abort('upstreamFailure')
    expect(await verdict).toBe(exchange.response)
    expect(exchange.response?.status).toBe(503)
    expect(exchange.upstreamCall).toBeUndefined()
  })

  it('reads the body only if the expression does', () => {
    expect(compileDelay({ expression: 'size(request.body)' }, environmentOf()).readsRequestBody).toBe(true)
    expect(compileDelay({ expression: '5' }, environmentOf()).readsRequestBody).toBe(false)
  })
})

describe('on a real proxy', () => {
  it('waits, and counts against the request timeout', async () => {
    const directResponse = { status: 200, body: 'late' }
    const gateway = await testProxy({
      routes: [
        { name: 'in-time', prefix: '/in-time', backend: {}, inline: { delay: { ms: 50 }, directResponse } },
        {
          name: 'too-late',
          prefix: '/too-late',
          backend: {},
          inline: { delay: { ms: 60_000 }, timeouts: { requestMs: 100 }, directResponse },
        },
      ],
    })
    try {
      const start = performance.now()
      expect(await (await fetch(`${gateway.url}/in-time`)).text()).toBe('late')
      expect(performance.now() - start).toBeGreaterThanOrEqual(49)
      const late = await fetch(`${gateway.url}/too-late`)
      expect([late.status, await late.text()]).toEqual([504, 'request timeout'])
    } finally {
      await gateway.stop()
    }
  })
})
