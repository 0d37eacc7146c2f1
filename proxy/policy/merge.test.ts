// Single rules of merging as examples; the properties are in merge.prop.test.ts.
import { describe, expect, it } from 'vitest'
import type { Policy, PolicyPayload, PolicyTarget } from '#api/ir/types.gen.ts'
import { indexPolicies } from './policy-index.ts'
import { effectiveFrontend } from './merge-backend.ts'
import { effectiveTraffic, type RouteLevel } from './merge.ts'

const GATEWAY = { namespace: 'ns', name: 'gw' }
const ROUTE: RouteLevel = {
  key: 'ns/r.00.l',
  name: { kind: 'HTTPRoute', namespace: 'ns', name: 'r' },
  inlinePolicies: { urlRewrite: { host: 'a.org' } },
}
let count = 0

function policy(target: PolicyTarget, payload: PolicyPayload, extra: Partial<Policy> = {}): Policy {
  count++
  return { key: `k${count}`, name: { kind: 'GwPolicy', namespace: 'ns', name: 'p' }, target, policy: payload, ...extra }
}

const route: PolicyTarget = { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'r' } }
const gateway: PolicyTarget = { gateway: GATEWAY }

function merged(policies: Policy[]) {
  return effectiveTraffic(indexPolicies(policies), { gateway: GATEWAY, listener: 'l', routes: [ROUTE] })
}

describe('traffic', () => {
  it('keeps the source of a value', () => {
    const limited = {
      rateLimit: { limits: [{ unit: 'Requests' as const, tokensPerFill: 1, fillIntervalMs: 1, tokensMax: 1 }] },
    }
    const { postRouting } = merged([policy(gateway, { traffic: limited }, { key: 'traffic/ns/p:rl-local' })])
    expect(postRouting.rateLimit?.source).toBe('traffic/ns/p:rl-local')
    expect(postRouting.urlRewrite).toEqual({ value: { host: 'a.org' }, source: 'route/ns/r.00.l' })
  })

  it('locks a field against filters of the route, and no other field', () => {
    const override = { inheritance: 'Override' as const }
    const { postRouting } = merged([
      policy(gateway, { traffic: { urlRewrite: { host: 'locked.org' } } }, override),
      policy(route, { traffic: { timeouts: { requestMs: 5 } } }),
    ])
    expect(postRouting.urlRewrite?.value).toEqual({ host: 'locked.org' })
    expect(postRouting.timeouts?.value).toEqual({ requestMs: 5 })
  })

  it('never locks out deny', () => {
    const override = { inheritance: 'Override' as const }
    const { postRouting } = merged([
      policy(gateway, { traffic: { deny: { field: 'a', message: '' } } }, override),
      policy(route, { traffic: { deny: { field: 'b', message: '' } } }),
    ])
    expect(postRouting.deny.map(({ value }) => value.field)).toEqual(['a', 'b'])
  })

  it('applies a section name of the Gateway only to listeners of the Gateway itself', () => {
    const onListener = policy({ gateway: { ...GATEWAY, listener: 'l' } }, { traffic: { timeouts: { requestMs: 5 } } })
    const index = indexPolicies([onListener])
    const place = { gateway: GATEWAY, listener: 'l', routes: [ROUTE] }
    expect(effectiveTraffic(index, place).postRouting.timeouts).toBeDefined()
    const inSet = { ...place, listenerSet: { namespace: 'ns', name: 'set' } }
    expect(effectiveTraffic(index, inSet).postRouting.timeouts).toBeUndefined()
  })
})

describe('frontend', () => {
  const port: PolicyTarget = { gateway: { ...GATEWAY, port: 80 } }
  const index = indexPolicies([
    policy(gateway, { frontend: { http: { http1HeadersMax: 1 } } }),
    policy(gateway, { frontend: { http: { http1HeadersMax: 9 } } }),
    policy(gateway, { frontend: { deny: { field: 'tls', message: 'first' } } }),
    policy(port, { frontend: { http: { bufferBytesMax: 2 } } }),
    policy(port, { frontend: { deny: { field: 'tls', message: 'second' } } }),
    policy({ gateway: { ...GATEWAY, listener: 'l' } }, { frontend: { accessLog: { filter: 'true' } } }),
  ])

  it.each([
    [{}, { http: { http1HeadersMax: 1 } }],
    [{ port: 81 }, { http: { http1HeadersMax: 1 } }],
    [{ port: 80 }, { http: { bufferBytesMax: 2 } }],
    [
      { port: 80, listener: 'l' },
      { http: { bufferBytesMax: 2 }, accessLog: { filter: 'true' } },
    ],
  ])('%j', (place, fields) => {
    const deny = { field: 'tls', message: 'first' }
    expect(effectiveFrontend(index, { gateway: GATEWAY, ...place })).toEqual({ ...fields, deny })
  })
})
