import { describe, expect, it } from 'vitest'
import type {
  ConditionalRateLimit,
  ConditionalRateLimitEntry,
  LocalLimit,
  RateLimitOrConditional,
} from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { environmentOf, exchangeOf, fieldsOf, runRequest, runResponse, upstreamResponse } from '../exchange.testing.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { compileRateLimit } from './rate-limit.ts'
import { emptyFacts } from '../../llm/usage.ts'

const HOUR = 3_600_000

function limit(unit: LocalLimit['unit'], tokensMax: number): LocalLimit {
  return { unit, tokensPerFill: tokensMax, fillIntervalMs: HOUR, tokensMax }
}

function policyOf(limits: [LocalLimit, ...LocalLimit[]]): CompiledPolicy {
  return compileRateLimit({ limits }, environmentOf({ limits }))
}

function pass(policy: CompiledPolicy, exchange: Exchange): number {
  const refused = runRequest(policy, exchange)
  if (refused === undefined) exchange.response = upstreamResponse()
  runResponse(policy, exchange)
  return exchange.response?.status ?? 0
}

function withTokens(totalTokens: number | undefined, inputTokens?: number, outputTokens?: number): Exchange {
  const exchange = exchangeOf()
  exchange.llm = {
    ...emptyFacts('openai'),
    isStreaming: true,
    requestModel: undefined,
    responseModel: undefined,
    inputTokens,
    cachedInputTokens: undefined,
    cacheCreationInputTokens: undefined,
    outputTokens,
    reasoningTokens: undefined,
    totalTokens,
    timeToFirstTokenMs: undefined,
  }
  return exchange
}

describe('requests', () => {
  it('allows as many requests as there are tokens, and reports the remaining ones', () => {
    const policy = policyOf([limit('Requests', 2)])
    const seen = [1, 2, 3].map(() => {
      const exchange = exchangeOf()
      return [pass(policy, exchange), exchange.response?.headers.get('x-ratelimit-remaining')]
    })
    expect(seen).toEqual([
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ])
  })

  it('reports limit and reset on a rejection', () => {
    const policy = policyOf([limit('Requests', 1)])
    pass(policy, exchangeOf())
    const exchange = exchangeOf()
    expect(pass(policy, exchange)).toBe(429)
    expect(exchange.reason).toBe('RateLimit')
    expect(exchange.response?.body).toBe('rate limit exceeded')
    expect(exchange.response?.headers.get('x-ratelimit-limit')).toBe('1')
    const reset = Number(exchange.response?.headers.get('x-ratelimit-reset'))
    expect(reset).toBeGreaterThan(3590)
    expect(reset).toBeLessThanOrEqual(3600)
    expect(exchange.response?.headers.get('retry-after')).toBe(String(reset))
  })

  it('charges all limits and reports the one with fewest left', () => {
    const policy = policyOf([limit('Requests', 5), limit('Requests', 3), limit('Requests', 9)])
    const exchange = exchangeOf()
    pass(policy, exchange)
    expect(fieldsOf(exchange.response?.headers ?? upstreamResponse().headers).slice(0, 2)).toEqual([
      'x-ratelimit-limit: 3',
      'x-ratelimit-remaining: 2',
    ])
    expect([1, 2, 3].map(() => pass(policy, exchangeOf()))).toEqual([200, 200, 429])
  })

  it('counts two equal limits of one policy separately', () => {
    const policy = policyOf([limit('Requests', 2), limit('Requests', 2)])
    expect([1, 2, 3].map(() => pass(policy, exchangeOf()))).toEqual([200, 200, 429])
  })

  it.each(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])('does not change %s', (name) => {
    const policy = policyOf([limit('Requests', 2)])
    const exchange = exchangeOf()
    runRequest(policy, exchange)
    exchange.response = upstreamResponse([[name, '7']])
    runResponse(policy, exchange)
    expect(fieldsOf(exchange.response.headers)).toEqual([`${name}: 7`])
  })

  it('does not change headers of a service', () => {
    const policy = policyOf([limit('Requests', 2)])
    const exchange = exchangeOf()
    runRequest(policy, exchange)
    exchange.queuedResponseHeaders = ['x-ratelimit-limit', '100']
    exchange.response = upstreamResponse()
    runResponse(policy, exchange)
    expect(fieldsOf(exchange.response.headers)).toEqual([])
  })

  it('adds no headers if the chain ended before it', () => {
    const exchange = exchangeOf()
    exchange.response = upstreamResponse()
    runResponse(policyOf([limit('Requests', 2)]), exchange)
    expect(fieldsOf(exchange.response.headers)).toEqual([])
  })
})

describe('tokens', () => {
  it('charges the tokens of a response to later requests only', () => {
    const policy = policyOf([limit('Tokens', 100)])
    expect(pass(policy, exchangeOf())).toBe(200)
    policy.finished?.(withTokens(99))
    expect(pass(policy, exchangeOf())).toBe(200)
    policy.finished?.(withTokens(5000))
    expect(pass(policy, exchangeOf())).toBe(429)
  })

  it('adds input and output when there is no total, and charges nothing without facts', () => {
    const policy = policyOf([limit('Tokens', 100)])
    policy.finished?.(exchangeOf())
    policy.finished?.(withTokens(undefined))
    policy.finished?.(withTokens(undefined, 30, 50))
    const exchange = exchangeOf()
    pass(policy, exchange)
    expect(exchange.response?.headers.get('x-ratelimit-remaining')).toBe('20')
  })

  it('does nothing at the end if only requests are limited', () => {
    expect(policyOf([limit('Requests', 1)]).finished).toBeUndefined()
  })
})

describe('conditional', () => {
  const BY_PATH: ConditionalRateLimit = {
    conditional: [
      { condition: 'request.path == "/fails" && 1 / 0 == 1', policy: { limits: [limit('Requests', 9)] } },
      { condition: 'request.path.startsWith("/a")', policy: { limits: [limit('Requests', 2)] } },
      { condition: 'request.path.startsWith("/b")', policy: { limits: [limit('Requests', 2), limit('Tokens', 100)] } },
    ],
  }

  function compiled(payload: RateLimitOrConditional): CompiledPolicy {
    return compileRateLimit(payload, environmentOf(payload))
  }

  const statuses = (policy: CompiledPolicy, ...paths: string[]): number[] =>
    paths.map((path) => pass(policy, exchangeOf({ path })))

  it('charges the first matching entry, each with its own buckets although the limits are equal', () => {
    const policy = compiled(BY_PATH)
    expect(statuses(policy, '/a', '/a', '/a', '/b', '/b', '/b')).toEqual([200, 200, 429, 200, 200, 429])
  })

  it('does not limit without a matching entry; a condition that fails does not match', () => {
    const policy = compiled(BY_PATH)
    const exchange = exchangeOf({ path: '/fails' })
    expect(pass(policy, exchange)).toBe(200)
    expect(exchange.response?.headers.get('x-ratelimit-limit')).toBeUndefined()
    expect(statuses(policy, '/c', '/c', '/c')).toEqual([200, 200, 200])
  })

  it('uses the entry without a condition for other requests, but not for exhausted ones', () => {
    const rest: ConditionalRateLimitEntry = { policy: { limits: [limit('Requests', 1)] } }
    const policy = compiled({ conditional: [...BY_PATH.conditional.slice(1, 2), rest] })
    expect(statuses(policy, '/a', '/c', '/a', '/c', '/a')).toEqual([200, 200, 200, 429, 429])
  })

  it('reports the remaining tokens of its entry, also on rejections', () => {
    const policy = compiled(BY_PATH)
    const seen = [1, 2, 3].map(() => {
      const exchange = exchangeOf({ path: '/a' })
      pass(policy, exchange)
      return exchange.response?.headers.get('x-ratelimit-remaining')
    })
    expect(seen).toEqual(['1', '0', '0'])
  })

  it('charges tokens to the entry that allowed the request, whatever matches afterwards', () => {
    const policy = compiled(BY_PATH)
    const exchange = withTokens(5000)
    exchange.request.path = '/b'
    expect(pass(policy, exchange)).toBe(200)
    exchange.request.path = '/a'
    policy.finished?.(exchange)
    expect(statuses(policy, '/b', '/a')).toEqual([429, 200])
  })
})
