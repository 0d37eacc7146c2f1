// From buckets and counts in shared memory to the answer of `/limits`.
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import type { LocalLimit, Policy, RateLimitGlobal, RenderedConfig, Route } from '#api/ir/types.gen.ts'
import { MetricsAggregate } from '../metrics/aggregate.ts'
import { createMetricsBuffer, SeriesTable } from '../metrics/buffer.ts'
import { LIMIT_CALLS, LIMIT_STATE } from '../metrics/internal-families.ts'
import { identifiedLimits } from '../policy/limits/limit-identity.ts'
import { keyedLimits, sharedRateLimitStore } from '../policy/limits/rate-limit-store.ts'
import { SharedRateLimits } from '../policy/limits/shared-rate-limits.ts'
import { limits } from './limits.ts'

const REQUESTS: LocalLimit = { unit: 'Requests', tokensPerFill: 10, fillIntervalMs: 3_600_000, tokensMax: 15 }
const TOKENS: LocalLimit = { ...REQUESTS, unit: 'Tokens', tokensPerFill: 1000, tokensMax: 1000 }
const GLOBAL: RateLimitGlobal = {
  service: { service: { namespace: 'shop', hostname: 'limits.shop.svc', port: 8081 } },
  failureMode: 'FailClosed',
  domain: 'budgets',
  descriptors: [{ unit: 'Tokens', entries: [{ name: 'key', expression: 'apiKey.name' }], cost: 'llm.cost.total' }],
}
const TARGET = { gateway: { name: 'web', namespace: 'infra' } } as const

function policy(key: string, traffic: Policy['policy']['traffic']): Policy {
  const name = { kind: 'GwPolicy', namespace: 'shop', name: key } as const
  return { key, name, target: TARGET, policy: { traffic } } as unknown as Policy // what limits read
}

function configOf(parts: Partial<RenderedConfig>): RenderedConfig {
  return { ...emptyConfig(), ...parts }
}

interface Setup {
  readonly shown: (nowMs?: number) => ReturnType<typeof limits>
  /** Takes from the bucket of a local limit. */
  readonly take: (policyKey: string, limit: LocalLimit, count: number) => void
  readonly table: SeriesTable
}

function setUp(config: RenderedConfig): Setup {
  const aggregate = new MetricsAggregate()
  const buffer = createMetricsBuffer()
  aggregate.attach(buffer)
  const { shared } = SharedRateLimits.of(config)
  return {
    shown: (nowMs = Date.now()) => limits({ config, buckets: shared, aggregate }, nowMs),
    take: (policyKey, limit, count) => {
      const key = keyedLimits(policyKey, { limits: [limit] })[0]?.policy[0]?.key ?? ''
      sharedRateLimitStore(shared).bucket(key, limit).take(count, Date.now())
    },
    table: new SeriesTable(buffer),
  }
}

describe('/limits', () => {
  it('has what is left of local limits and what they rejected, those with the smallest part left first', () => {
    const config = configOf({
      policies: [policy('p', { rateLimit: { limits: [REQUESTS, TOKENS] } }), policy('other', {})],
      routes: [{ key: 'shop/cart/r0', inlinePolicies: { rateLimit: { limits: [REQUESTS] } } } as Route],
    })
    const { shown, take } = setUp(config)
    take('p', REQUESTS, 14)
    take('p', REQUESTS, 2)
    take('route/shop/cart/r0', REQUESTS, 2)
    const { local, global, omitted } = shown()
    expect(local).toMatchObject([
      {
        source: { kind: 'policy', key: 'p' },
        target: TARGET,
        path: 'rateLimit.limits[0]',
        unit: 'Requests',
        limit: 10,
        intervalMs: 3_600_000,
        capacity: 15,
        remaining: 1,
        rejected: 1,
      },
      { source: { kind: 'rule', key: 'shop/cart/r0' }, path: 'rateLimit.limits[0]', remaining: 13, rejected: 0 },
      { source: { kind: 'policy', key: 'p' }, path: 'rateLimit.limits[1]', unit: 'Tokens', remaining: 1000 },
    ])
    const left = Date.parse(local[0]?.nextFill ?? '') - Date.now()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(3_600_000)
    expect([global, omitted]).toEqual([[], 0])
  })

  it('has the condition of an entry', () => {
    const conditional = [
      { condition: 'request.path == "/a"', policy: { limits: [TOKENS] } },
      { policy: { limits: [REQUESTS] } },
    ]
    const { shown } = setUp(configOf({ policies: [policy('p', { rateLimit: { conditional } })] }))
    expect(shown().local).toMatchObject([
      { path: 'rateLimit.conditional[0].policy.limits[0]', condition: 'request.path == "/a"' },
      { path: 'rateLimit.conditional[1].policy.limits[0]' },
    ])
    expect(shown().local[1]).not.toHaveProperty('condition')
  })

  it('lists at most 500 local limits', () => {
    const policies = Array.from({ length: 502 }, (_, i) => policy(`p${i}`, { rateLimit: { limits: [REQUESTS] } }))
    const { shown, take } = setUp(configOf({ policies }))
    take('p501', REQUESTS, 1)
    expect([shown().local.length, shown().omitted, shown().local[0]?.source.key]).toEqual([500, 2, 'p501'])
  })

  it('has decisions of the service of global limits, and what it reported while that applies', () => {
    const conditional = [{ condition: 'true', policy: GLOBAL }, { policy: { ...GLOBAL, domain: 'rest' } }]
    const config = configOf({ policies: [policy('p', { rateLimitGlobal: { conditional } })] })
    const { shown, table } = setUp(config)
    const [, rest] = identifiedLimits('p', { conditional })
    const id = rest?.policy.id ?? ''
    table.values.set([3, 2, 1], table.series(LIMIT_CALLS, [id]))
    const report = (entries: string, remaining: number, resetsAtMs: number): void =>
      table.values.set([1000, 50, 4, remaining, resetsAtMs], table.series(LIMIT_STATE, [id, '0', entries]))
    report('key=ann', 40, 5000)
    report('key=bob', 0, 5000)
    report('key=eve', 10, 0)
    report('key=old', 1, 2000)
    const { global } = shown(2000)
    expect(global.map(({ domain, path, condition, allowed }) => [domain, path, condition, allowed])).toEqual([
      ['rest', 'rateLimitGlobal.conditional[1].policy', undefined, 3],
      ['budgets', 'rateLimitGlobal.conditional[0].policy', 'true', 0],
    ])
    expect(global[0]).toMatchObject({
      service: 'shop/limits.shop.svc:8081',
      failureMode: 'FailClosed',
      descriptors: [{ unit: 'Tokens', entries: [{ name: 'key', expression: 'apiKey.name' }], cost: 'llm.cost.total' }],
      rejected: 2,
      failed: 1,
    })
    const common = { descriptor: 0, limit: 50, interval: 'Day', at: '1970-01-01T00:00:01.000Z' }
    expect(global[0]?.reported).toEqual([
      { ...common, entries: 'key=bob', remaining: 0, resetsAt: '1970-01-01T00:00:05.000Z' },
      { ...common, entries: 'key=eve', remaining: 10, resetsAt: null },
      { ...common, entries: 'key=ann', remaining: 40, resetsAt: '1970-01-01T00:00:05.000Z' },
    ])
  })

  it('is empty before the first configuration', () => {
    const aggregate = new MetricsAggregate()
    expect(limits({ config: undefined, buckets: undefined, aggregate }, 0)).toEqual({
      local: [],
      global: [],
      omitted: 0,
    })
  })
})
