import { describe, expect, it } from 'vitest'
import type { Health } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { HttpResponse } from '../message/message.ts'
import { exchangeOf, expression } from '../policy/exchange.testing.ts'
import { localState, sharedNowMs, type EndpointState } from './endpoint-store.ts'
import { compileHealth, endEndpoint } from './health.ts'

interface Outcome {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly isComplete?: boolean
}

const NOTHING: Outcome = { status: 200 }

function charge(state: EndpointState, health: Health | undefined, prepare: (exchange: Exchange) => void): Exchange {
  const exchange = exchangeOf()
  exchange.usedEndpoint = { state }
  exchange.health = health === undefined ? undefined : compileHealth(health, expression)
  state.begin()
  prepare(exchange)
  return exchange
}

/** One answer of the backend. */
function answer(state: EndpointState, health: Health | undefined, outcome: Outcome = NOTHING): void {
  const { status = 200, headers = {}, isComplete = true } = outcome
  const exchange = charge(state, health, (charged) => {
    charged.response = new HttpResponse(status, HeaderList.of(Object.entries(headers)), '', false)
    charged.upstreamStatus = status
  })
  endEndpoint(exchange, isComplete)
}

function seconds(state: EndpointState): number {
  return Math.round((state.figures(sharedNowMs()).evictedForMs ?? 0) / 1000)
}

const NO_SOURCE = { pauseBody() {}, resumeBody() {}, cancelBody() {} }

describe('what counts as unhealthy', () => {
  it.each<[string, Outcome, number]>([
    ['200', { status: 200 }, 0],
    ['404', { status: 404 }, 0],
    ['500', { status: 500 }, 1],
    ['599', { status: 599 }, 1],
    ['gRPC status 0', { headers: { 'grpc-status': '0' } }, 0],
    ['gRPC status 14', { headers: { 'grpc-status': '14' } }, 1],
    ['a client that leaves', { status: 500, isComplete: false }, 0],
  ])('by default: %s', (_, outcome, failures) => {
    const state = localState()
    answer(state, undefined, outcome)
    expect(state.consecutiveFailures).toBe(failures)
    expect(state.pendingRequests).toBe(0)
    expect(state.isEvicted).toBe(false)
  })

  it.each(['upstreamFailure', 'upstreamTimeout', 'dnsFailure', 'requestTimeout'] as const)(
    '%s, whatever the condition',
    (code) => {
      const state = localState()
      const exchange = charge(state, { unhealthyCondition: 'response.code == 429' }, (charged) => charged.fail(code))
      endEndpoint(exchange, true)
      expect(state.consecutiveFailures).toBe(1)
    },
  )

  it('not a rejection of the proxy itself', () => {
    const state = localState()
    endEndpoint(
      charge(state, undefined, (charged) => charged.fail('overloaded')),
      true,
    )
    expect([state.consecutiveFailures, state.health, state.pendingRequests]).toEqual([0, 1, 0])
  })

  it('a body that the backend ends early', () => {
    const state = localState()
    const body = new IncomingBody(NO_SOURCE, 10)
    body.fail(new Error('reset'))
    const exchange = charge(state, undefined, (charged) => {
      charged.response = new HttpResponse(200, new HeaderList(), body, false)
      charged.upstreamStatus = 200
    })
    endEndpoint(exchange, false)
    expect(state.consecutiveFailures).toBe(1)
  })

  it('the status of the backend, not that of a filter', () => {
    const state = localState()
    const exchange = charge(state, undefined, (charged) => {
      charged.response = new HttpResponse(200, new HeaderList(), '', false)
      charged.upstreamStatus = 503
    })
    endEndpoint(exchange, true)
    expect(state.consecutiveFailures).toBe(1)
  })

  it('only the result of the condition', () => {
    const state = localState()
    const health = { unhealthyCondition: 'response.code == 429' }
    answer(state, health, { status: 500 })
    expect(state.consecutiveFailures).toBe(0)
    answer(state, health, { status: 429 })
    expect(state.consecutiveFailures).toBe(1)
    answer(state, { unhealthyCondition: 'response.nonsense.x' }, { status: 500 })
    expect(state.consecutiveFailures).toBe(0)
  })

  it('settles once', () => {
    const state = localState()
    const exchange = charge(state, undefined, (charged) => charged.fail('upstreamFailure'))
    endEndpoint(exchange, true)
    endEndpoint(exchange, true)
    expect([state.consecutiveFailures, state.pendingRequests]).toEqual([1, 0])
  })
})

describe('eviction', () => {
  const BAD = { status: 500 }

  it('at once with no threshold, for 3 seconds, then 6', () => {
    const state = localState()
    answer(state, { eviction: {} }, BAD)
    expect([state.isEvicted, seconds(state)]).toEqual([true, 3])
  })

  it('never without eviction block or a duration', () => {
    const state = localState()
    for (let i = 0; i < 10; i++) answer(state, {}, BAD)
    expect(state.isEvicted).toBe(false)
    answer(state, { unhealthyCondition: 'response.code == 429' }, { status: 429 })
    expect(state.isEvicted).toBe(false)
  })

  it('after the configured number of consecutive failures', () => {
    const state = localState()
    const health = { eviction: { consecutiveFailures: 3, durationMs: 10_000 } }
    for (const outcome of [BAD, BAD, NOTHING, BAD, BAD]) answer(state, health, outcome)
    expect(state.isEvicted).toBe(false)
    answer(state, health, BAD)
    expect([state.isEvicted, seconds(state)]).toEqual([true, 10])
  })

  it.each([0, 1])('at once for consecutiveFailures %i', (consecutiveFailures) => {
    const state = localState()
    answer(state, { eviction: { consecutiveFailures } }, BAD)
    expect(state.isEvicted).toBe(true)
  })

  it('if health falls below the threshold, with this response included', () => {
    const state = localState()
    const health = { eviction: { healthThreshold: 50 } }
    answer(state, health, BAD)
    expect([state.isEvicted, state.health.toFixed(2)]).toEqual([false, '0.70'])
    answer(state, health, BAD)
    expect([state.isEvicted, state.health.toFixed(2)]).toEqual([true, '0.49'])
  })

  it('either threshold is enough', () => {
    const state = localState()
    answer(state, { eviction: { healthThreshold: 0, consecutiveFailures: 1 } }, BAD)
    expect(state.isEvicted).toBe(true)
    const other = localState()
    answer(other, { eviction: { healthThreshold: 71, consecutiveFailures: 9 } }, BAD)
    expect(other.isEvicted).toBe(true)
  })

  it('a threshold of 0 is never reached, and one of 100 at once', () => {
    const state = localState()
    for (let i = 0; i < 50; i++) answer(state, { eviction: { healthThreshold: 0 } }, BAD)
    expect(state.isEvicted).toBe(false)
    answer(localState(), { eviction: { healthThreshold: 100 } }, BAD)
    const other = localState()
    answer(other, { eviction: { healthThreshold: 100 } }, BAD)
    expect(other.isEvicted).toBe(true)
  })

  it.each<[string, Health, Outcome, number]>([
    [
      'what is configured wins',
      { eviction: { durationMs: 9000 } },
      { status: 429, headers: { 'retry-after': '40' } },
      9,
    ],
    ['Retry-After of a 429', { eviction: {} }, { status: 429, headers: { 'retry-after': '40' } }, 40],
    ['without an eviction block as well', {}, { status: 429, headers: { 'retry-after': '40' } }, 40],
    ['not of a 503', { eviction: {} }, { status: 503, headers: { 'retry-after': '40' } }, 3],
    ['a backend can ask for a day', { eviction: {} }, { status: 429, headers: { 'retry-after': '86400' } }, 86_400],
    ['and for no more', { eviction: {} }, { status: 429, headers: { 'retry-after': '86401' } }, 86_400],
    ['what is configured holds in full', { eviction: { durationMs: 604_800_000 } }, { status: 500 }, 604_800],
    ['as far as the store reaches', { eviction: { durationMs: 1e12 } }, { status: 500 }, 17_280_000],
  ])('duration: %s', (_, health, outcome, expected) => {
    const state = localState()
    answer(state, { unhealthyCondition: 'response.code >= 400', ...health }, outcome)
    expect(seconds(state)).toBe(expected)
  })

  it('the backoff of retries is the duration by default', () => {
    const state = localState()
    const exchange = charge(state, {}, (charged) => {
      charged.fail('upstreamFailure')
      charged.retry = { attempts: 1, codes: new Set(), backoffMs: 5000, condition: undefined, readsResponseBody: false }
    })
    endEndpoint(exchange, true)
    expect(seconds(state)).toBe(5)
  })
})
