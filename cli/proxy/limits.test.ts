import { describe, expect, it } from 'vitest'
import { descriptorText, type GlobalLimit, leftText, limitPlace, limitText, type LocalLimit } from './limits.ts'

const KEY = 'traffic/shop/limits:rl-local:shop/api'
const LOCAL: LocalLimit = {
  source: { kind: 'policy', key: KEY },
  target: { route: { kind: 'HTTPRoute', namespace: 'shop', name: 'api' } },
  path: 'rateLimit.limits[1]',
  unit: 'Requests',
  limit: 10,
  intervalMs: 3_600_000,
  capacity: 10,
  remaining: 3,
  nextFill: '2026-12-01T10:00:00.000Z',
  rejected: 0,
}
const GLOBAL: GlobalLimit = {
  source: { kind: 'policy', key: 'traffic/shop/limits:rl-global:shop/api' },
  target: { gateway: { name: 'web', namespace: 'infra' } },
  path: 'rateLimitGlobal',
  service: 'shop/limits.shop.svc:8081',
  domain: 'budgets',
  failureMode: 'FailClosed',
  descriptors: [],
  allowed: 0,
  rejected: 0,
  failed: 0,
  reported: [],
}

describe('limitPlace', () => {
  it.each([
    ['a local limit', LOCAL, 'spec.traffic.rateLimit.local[1]'],
    [
      'one of a conditional list',
      { ...LOCAL, path: 'rateLimit.conditional[2].policy.limits[0]' },
      'spec.traffic.rateLimit.conditional[].policy.local[0]',
    ],
    ['a global limit', GLOBAL, 'spec.traffic.rateLimit.global'],
    [
      'a global one of a conditional list',
      { ...GLOBAL, path: 'rateLimitGlobal.conditional[0].policy' },
      'spec.traffic.rateLimit.conditional[].policy.global',
    ],
  ])('has object and field of %s', (_, limit, field) => {
    expect(limitPlace(limit)).toMatchObject({ object: 'GwPolicy shop/limits', field })
  })

  it('has the target of a policy', () => {
    expect([limitPlace(LOCAL).target, limitPlace(GLOBAL).target]).toEqual([
      'HTTPRoute shop/api',
      'Gateway infra/web',
    ])
  })

  it('has the names of a standalone file', () => {
    const source = { kind: 'policy', key: 'default/limits' } as const
    expect(limitPlace({ ...LOCAL, source })).toMatchObject({ object: 'default/limits', field: 'localRateLimit[1]' })
    expect(limitPlace({ ...GLOBAL, source }).field).toBe('remoteRateLimit')
  })

  it('has the rule of a limit without a policy', () => {
    const { target: _, ...inline } = { ...LOCAL, source: { kind: 'rule', key: 'default/api' } as const }
    expect(limitPlace(inline)).toEqual({
      object: 'the rule default/api',
      field: 'localRateLimit[1]',
      target: 'the rule',
    })
  })
})

describe('texts', () => {
  it.each([
    [{}, '10 requests an hour'],
    [{ limit: 1, capacity: 1, intervalMs: 60_000 }, '1 request a minute'],
    [{ limit: 20_000, capacity: 25_000, unit: 'Tokens', intervalMs: 1000 }, '20,000 tokens a second, burst 5,000'],
    [{ intervalMs: 86_400_000 }, '10 requests in 24 hours'],
    [{ intervalMs: 90_000 }, '10 requests in 90 seconds'],
    [{ intervalMs: 250 }, '10 requests in 250 milliseconds'],
  ] as const)('the limit %j is %s', (parts, text) => {
    expect(limitText({ ...LOCAL, ...parts })).toBe(text)
  })

  it('have what is left', () => {
    expect(leftText({ ...LOCAL, remaining: 1200, capacity: 5000 })).toBe('1,200 of 5,000')
  })

  it('have what a descriptor counts, and by what', () => {
    const entries = ['key', 'model'].map((name) => ({ name, expression: '"x"' }))
    expect(descriptorText({ unit: 'Tokens', entries })).toBe('tokens by key, model')
    expect(descriptorText({ unit: 'Tokens', entries, cost: 'llm.cost.total' })).toBe('llm.cost.total by key, model')
  })
})
