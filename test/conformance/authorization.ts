// traffic.authorization: Allow, Deny, Require, rules of several levels, and broken rules.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'authorization.yaml'
const REFUSED = { status: 403, text: 'authorization failed' }
const TENANT = { 'x-tenant': 'shop' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Authorization',
    description: 'Deny, Require and Allow rules of Gateway and route rule all apply',
    sample: SAMPLE,
    async run(gateway) {
      const ask = (path: string, headers: Record<string, string>) => gateway.ask(path, { headers })
      expect(await ask('/', {})).toMatchObject(REFUSED)
      expect(await ask('/', { 'x-tenant': '' })).toMatchObject(REFUSED)
      expect(await ask('/', TENANT)).toMatchObject({ status: 200 })
      expect(await ask('/', { ...TENANT, 'x-banned': '' })).toMatchObject(REFUSED)
      expect(await ask('/admin', TENANT)).toMatchObject(REFUSED)
      expect(await ask('/admin', { ...TENANT, 'x-role': 'guest' })).toMatchObject(REFUSED)
      expect(await ask('/admin', { ...TENANT, 'x-role': 'admin' })).toMatchObject({ status: 200 })
      expect(await ask('/admin', { ...TENANT, 'x-role': 'operator' })).toMatchObject({ status: 200 })
      expect(await ask('/admin', { ...TENANT, 'x-role': 'admin', 'x-banned': 'yes' })).toMatchObject(REFUSED)
      expect(await ask('/admin', { 'x-role': 'admin' })).toMatchObject(REFUSED)
    },
  },
  {
    shortName: 'AuthorizationBrokenAllow',
    description: 'an Allow rule that does not compile never matches',
    sample: SAMPLE,
    change: replacing('request.headers["x-role"] == "admin"', 'request.headers["x-role"] == '),
    async run(gateway) {
      expect(await gateway.ask('/admin', { headers: { ...TENANT, 'x-role': 'admin' } })).toMatchObject(REFUSED)
      expect(await gateway.ask('/', { headers: TENANT })).toMatchObject({ status: 200 })
      const [accepted] = gateway.conditions('GwPolicy', 'authorization-admin')
      expect(accepted).toMatchObject({ type: 'Accepted', status: 'True', reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.authorization.policy.matchExpressions[0]')
    },
  },
  {
    shortName: 'AuthorizationBrokenRequire',
    description: 'a Require rule that does not compile rejects every request',
    sample: SAMPLE,
    change: replacing('request.headers["x-tenant"] != ""', 'tenant('),
    async run(gateway) {
      expect(await gateway.ask('/', { headers: TENANT })).toMatchObject(REFUSED)
      const [accepted] = gateway.conditions('GwPolicy', 'authorization-tenant')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.authorization.policy.matchExpressions[0]')
    },
  },
  {
    shortName: 'AuthorizationBrokenDeny',
    description: 'a Deny rule that could never match rejects every request that it covers',
    sample: SAMPLE,
    change: replacing(`'"x-banned" in request.headers'`, `'"x-banned" in'`),
    async run(gateway) {
      expect(await gateway.ask('/', { headers: TENANT })).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'authorization-banned')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.traffic.authorization.policy.matchExpressions[0]')
    },
  },
  {
    shortName: 'AuthorizationUnknownName',
    description: 'the status suggests a member for an expression that reads an unknown one',
    sample: SAMPLE,
    change: replacing('request.headers["x-role"] == "admin"', 'request.headrs["x-role"] == "admin"'),
    async run(gateway) {
      expect(await gateway.ask('/admin', { headers: { ...TENANT, 'x-role': 'admin' } })).toMatchObject(REFUSED)
      expect(await gateway.ask('/admin', { headers: { ...TENANT, 'x-role': 'operator' } })).toMatchObject({
        status: 200,
      })
      const [accepted] = gateway.conditions('GwPolicy', 'authorization-admin')
      expect(accepted).toMatchObject({ type: 'Accepted', status: 'True', reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('request has no member headrs; did you mean headers?')
    },
  },
  {
    shortName: 'AuthorizationDenyUnknownName',
    description: 'a Deny rule that reads a variable that does not exist here rejects every request',
    sample: SAMPLE,
    change: replacing(`'"x-banned" in request.headers'`, 'response.code == 200 || request.pat == "/"'),
    async run(gateway) {
      expect(await gateway.ask('/', { headers: TENANT })).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'authorization-banned')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('response: not available: the expression is evaluated')
      expect(accepted?.message).toContain('request has no member pat; did you mean path?')
    },
  },
]
