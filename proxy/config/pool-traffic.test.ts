// Where traffic policies of an InferencePool run, and where they reject requests.
import { describe, expect, it } from 'vitest'
import type { Policy, RouteBackend } from '#api/ir/types.gen.ts'
import { indexPolicies } from '../policy/policy-index.ts'
import { effectiveTraffic } from '../policy/merge.ts'
import { commonService, withTrafficDenied } from './pool-traffic.ts'

const POOL = { hostname: 'pool.ns.inference.cluster.local', namespace: 'ns', port: 8000 }
const OTHER = { ...POOL, hostname: 'other.ns.svc.cluster.local' }
const to = (...services: (typeof POOL)[]): RouteBackend[] =>
  services.map((service) => ({ weight: 1, ref: { service } }))
const name = { kind: 'GwPolicy', namespace: 'ns', name: 'p' }
const csrf: Policy = {
  key: 'traffic/ns/p:csrf:ns/pool',
  name,
  target: { service: { hostname: POOL.hostname, namespace: 'ns' } },
  policy: { traffic: { csrf: { additionalOrigins: ['https://pool.example'] } } },
}
const onRoute: Policy = {
  ...csrf,
  key: 'traffic/ns/p:csrf:ns/r',
  target: { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'r' } },
  policy: { traffic: { csrf: { additionalOrigins: ['https://route.example'] } } },
}
const place = {
  gateway: { namespace: 'ns', name: 'gw' },
  routes: [{ key: 'r', name: { kind: 'HTTPRoute' as const, namespace: 'ns', name: 'r' } }],
}

describe('traffic policies of an InferencePool', () => {
  it.each([
    [to(), undefined],
    [to(POOL), POOL],
    [to(POOL, { ...POOL, port: 1 }), POOL],
    [to(POOL, OTHER), undefined],
    [[...to(POOL), { weight: 1, ref: { backend: 'ns/b' } }], undefined],
  ])('the common backend of rule %#', (backends, expected) => {
    expect(commonService(backends)).toEqual(expected)
  })

  it('run with the rule, with lower precedence than the route', () => {
    const originsOf = (policies: Policy[]) =>
      effectiveTraffic(indexPolicies(policies), { ...place, service: POOL }).postRouting.csrf?.value.additionalOrigins
    expect(originsOf([csrf])).toEqual(['https://pool.example'])
    expect(originsOf([csrf, onRoute])).toEqual(['https://route.example'])
    expect(effectiveTraffic(indexPolicies([csrf]), place).postRouting.csrf).toBeUndefined()
  })

  it('reject requests where they cannot run, and only there', () => {
    const index = indexPolicies([csrf])
    expect(withTrafficDenied({ mcpAuthorization: [] }, { service: POOL }, index).deny).toMatchObject({
      field: 'traffic',
    })
    expect(withTrafficDenied({ mcpAuthorization: [] }, { service: OTHER }, index).deny).toBeUndefined()
    expect(withTrafficDenied({ mcpAuthorization: [] }, { backend: 'ns/b' }, index).deny).toBeUndefined()
  })
})
