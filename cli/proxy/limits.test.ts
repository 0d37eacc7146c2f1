import { describe, expect, it } from 'vitest'
import { limitsTable } from './limits-table.ts'
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
    expect([limitPlace(LOCAL).target, limitPlace(GLOBAL).target]).toEqual(['HTTPRoute shop/api', 'Gateway infra/web'])
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

describe('the tables', () => {
  const linesOf = (text: string): string[][] => text.split('\n').map((line) => line.split(/ {2,}/))
  const report = {
    descriptor: 0,
    entries: 'key=ann',
    limit: 50,
    interval: 'Day',
    remaining: 7,
    resetsAt: null,
  } as const
  const at = '2026-12-01T09:00:00.000Z'
  const descriptors: GlobalLimit['descriptors'] = [
    { unit: 'Tokens', entries: [{ name: 'key', expression: 'apiKey.name' }] },
  ]

  it('have limits of the proxy and of services, and what these reported', () => {
    const global = [{ ...GLOBAL, descriptors, allowed: 3, rejected: 2, failed: 1, reported: [{ ...report, at }] }]
    const place = (field: string) => ['GwPolicy shop/limits', `spec.traffic.rateLimit.${field}`]
    expect(linesOf(limitsTable({ local: [LOCAL], global, omitted: 0 }))).toEqual([
      ['LIMIT', 'LEFT', 'REJECTED', 'REFILLED AT', 'POLICY', 'FIELD'],
      ['10 requests an hour', '3 of 10', '0', LOCAL.nextFill, ...place('local[1]')],
      [''],
      ['COUNTS', 'ALLOWED', 'REJECTED', 'NO ANSWER', 'SERVICE', 'DOMAIN', 'POLICY', 'FIELD'],
      ['tokens by key', '3', '2', '1', 'shop/limits.shop.svc:8081', 'budgets', ...place('global')],
      [''],
      ['OF', 'LIMIT', 'LEFT', 'REPORTED AT', 'POLICY', 'FIELD'],
      ['key=ann', '50 a day', '7', at, ...place('global')],
      [''],
    ])
  })

  it('have target and condition if they are wide', () => {
    const [head, row] = linesOf(limitsTable({ local: [{ ...LOCAL, condition: 'true' }], global: [], omitted: 0 }, true))
    expect([head?.slice(-2), row?.slice(-2)]).toEqual([
      ['TARGET', 'CONDITION'],
      ['HTTPRoute shop/api', 'true'],
    ])
  })

  it('count limits that are left out', () => {
    expect(limitsTable({ local: [], global: [], omitted: 1200 })).toBe('1,200 more limits\n')
  })
})
